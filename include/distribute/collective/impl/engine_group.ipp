#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/engine_group.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE EngineGroup::EngineGroup(const Engine& engine) : module_(*engine.module) {
  distribute_engine_error error{};
  check(module_.open(&group_, &error), error);
}

DISTRIBUTE_INLINE EngineGroup::~EngineGroup() { module_.close(group_, broken_); }

DISTRIBUTE_INLINE void EngineGroup::check(int code, const distribute_engine_error& error) const {
  if (code == 0) return;
  const bool known = code >= 1 && code <= 16;
  throw_error(known ? StatusCode(code) : StatusCode::Internal,
              str_cat("the engine ", module_.name, ": ", error.text));
}

DISTRIBUTE_INLINE std::string EngineGroup::address() {
  distribute_engine_error error{};
  std::string text(size_t{16} << 10, '\0');
  size_t bytes = text.size();
  check(module_.address(group_, text.data(), &bytes, &error), error);
  const bool fits = bytes <= text.size();
  text.resize(bytes);
  if (!fits) check(module_.address(group_, text.data(), &bytes, &error), error);
  return text;
}

DISTRIBUTE_INLINE void EngineGroup::connect(int rank, const std::vector<std::string>& addresses) {
  std::vector<const void*> data;
  std::vector<size_t> bytes;
  for (const std::string& address : addresses) {
    data.push_back(address.data());
    bytes.push_back(address.size());
  }
  distribute_engine_error error{};
  check(module_.connect(group_, rank, int(addresses.size()), data.data(), bytes.data(), &error),
        error);
}

DISTRIBUTE_INLINE void EngineGroup::send(int to, uint32_t tag, std::span<const std::byte> bytes,
                                         uint64_t cookie) {
  distribute_engine_error error;
  error.text[0] = 0;
  check(module_.send(group_, to, tag, bytes.data(), bytes.size(), cookie, &error), error);
}

DISTRIBUTE_INLINE void EngineGroup::receive(int from, uint32_t tag, std::span<std::byte> out,
                                            uint64_t cookie) {
  distribute_engine_error error;
  error.text[0] = 0;
  check(module_.receive(group_, from, tag, out.data(), out.size(), cookie, &error), error);
}

DISTRIBUTE_INLINE bool EngineGroup::flush(uint64_t cookie) {
  distribute_engine_error error;
  error.text[0] = 0;
  const int code = module_.flush(group_, cookie, &error);
  if (code != 1) check(code, error);
  return code != 1;
}

DISTRIBUTE_INLINE void EngineGroup::all_reduce(const void* input, void* output, int64_t count,
                                               int dtype, int op, uint64_t cookie) {
  distribute_engine_error error{};
  check(module_.all_reduce(group_, input, output, size_t(count), dtype, op, cookie, &error), error);
}

DISTRIBUTE_INLINE std::span<const distribute_engine_event> EngineGroup::progress(
    std::span<distribute_engine_event> events) {
  distribute_engine_error error;
  error.text[0] = 0;
  const int count = module_.progress(group_, events.data(), int(events.size()), &error);
  if (count < 0) check(-count, error);
  return events.first(size_t(count));
}

}  // namespace distribute::collective
