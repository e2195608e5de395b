#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/collective/detail/engine_group.hpp>

#include <poll.h>

namespace distribute::collective {

DISTRIBUTE_INLINE EngineGroup::EngineGroup(const Engine& engine) : module_(*engine.module) {
  distribute_engine_error error{};
  check(module_.open(&group_, &error), error);
}

DISTRIBUTE_INLINE EngineGroup::~EngineGroup() {
  stop_.signal();
  if (thread_.joinable()) thread_.join();
  module_.close(group_, broken_);
}

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
  if (module_.abilities & DISTRIBUTE_ENGINE_NEEDS_TURNS)
    thread_ = base_internal::start_thread("messages between collectives", [this] { give_turns(); });
}

/// Asleep while there is nothing to do; looks in now and then while the caller is at work.
DISTRIBUTE_INLINE void EngineGroup::give_turns() {
  constexpr int kTickMs = 2;
  uint64_t seen = 0;
  for (;;) {
    const int handle = take_turn(seen);
    pollfd polled[] = {{stop_.native(), POLLIN, 0}, {handle, POLLIN, 0}};
    ::poll(polled, 2, handle >= 0 ? -1 : kTickMs);
    if (polled[0].revents != 0) return;
  }
}

/// Returns a descriptor to wait for, or -1 to try again after a while, as the caller is working, or
/// has events to take. While the caller waits for the descriptor, only it may call progress(),
/// which would read the event and leave the descriptor silent.
DISTRIBUTE_INLINE int EngineGroup::take_turn(uint64_t& seen) {
  const std::lock_guard lock(mutex_);
  if (waits_ || broken_ || turns_ != seen) {
    seen = turns_;
    return -1;
  }
  distribute_engine_error error;
  if (module_.progress(group_, nullptr, 0, nullptr, &error) < 0)
    return -1;  // the caller will see it, too
  return module_.wait_handle(group_);
}

DISTRIBUTE_INLINE void EngineGroup::send(int to, uint32_t tag, std::span<const std::byte> bytes,
                                         uint64_t cookie) {
  distribute_engine_error error;
  error.text[0] = 0;
  const std::lock_guard lock(mutex_);
  check(module_.send(group_, to, tag, bytes.data(), bytes.size(), cookie, &error), error);
}

DISTRIBUTE_INLINE void EngineGroup::receive(int from, uint32_t tag, std::span<std::byte> out,
                                            uint64_t cookie) {
  distribute_engine_error error;
  error.text[0] = 0;
  const std::lock_guard lock(mutex_);
  check(module_.receive(group_, from, tag, out.data(), out.size(), cookie, &error), error);
}

DISTRIBUTE_INLINE void EngineGroup::all_reduce(const void* input, void* output, int64_t count,
                                               int dtype, int op, uint64_t cookie) {
  distribute_engine_error error{};
  const std::lock_guard lock(mutex_);
  check(module_.all_reduce(group_, input, output, size_t(count), dtype, op, cookie, &error), error);
}

DISTRIBUTE_INLINE std::span<const distribute_engine_event> EngineGroup::progress(
    std::span<distribute_engine_event> events, bool& moved) {
  distribute_engine_error error;
  error.text[0] = 0;
  int parts_moved = 0;
  const std::lock_guard lock(mutex_);
  ++turns_;
  waits_ = false;
  const int count =
      module_.progress(group_, events.data(), int(events.size()), &parts_moved, &error);
  if (count < 0) check(-count, error);
  moved = count > 0 || parts_moved != 0;
  return events.first(size_t(count));
}

DISTRIBUTE_INLINE int EngineGroup::wait_handle() {
  const std::lock_guard lock(mutex_);
  const int handle = module_.wait_handle(group_);
  waits_ = handle >= 0;
  return handle;
}

DISTRIBUTE_INLINE void EngineGroup::set_broken() {
  const std::lock_guard lock(mutex_);
  broken_ = true;
}

}  // namespace distribute::collective
