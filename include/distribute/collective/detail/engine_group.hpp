#pragma once
/// A group of an engine module, with its errors as exceptions.

#include <distribute/collective/engine_module.h>
#include <distribute/base/config.hpp>
#include <distribute/collective/engine.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace distribute::collective {

/// Owns the group. Thread-compatible.
class EngineGroup {
 public:
  /// Throws  what the module reports.
  explicit EngineGroup(const Engine& engine);
  ~EngineGroup();
  EngineGroup(const EngineGroup&) = delete;
  EngineGroup& operator=(const EngineGroup&) = delete;

  const char* name() const { return module_.name; }
  bool owns_ranks() const { return module_.abilities & DISTRIBUTE_ENGINE_OWN_RANKS; }
  bool reduces() const { return module_.abilities & DISTRIBUTE_ENGINE_REDUCES; }
  int rank() const { return module_.rank(group_); }
  int size() const { return module_.size(group_); }

  std::string address();
  void connect(int rank, const std::vector<std::string>& addresses);

  void send(int to, uint32_t tag, std::span<const std::byte> bytes, uint64_t cookie);
  void receive(int from, uint32_t tag, std::span<std::byte> out, uint64_t cookie);
  /// False when there is nothing to wait for.
  bool flush(uint64_t cookie);
  void all_reduce(const void* input, void* output, int64_t count, int dtype, int op,
                  uint64_t cookie);
  /// The events that have come, at most as many as fit.
  std::span<const distribute_engine_event> progress(std::span<distribute_engine_event> events);
  int wait_handle() { return module_.wait_handle(group_); }

  /// From here on others may be gone: the destructor waits for nothing.
  void set_broken() { broken_ = true; }

 private:
  void check(int code, const distribute_engine_error& error) const;

  const distribute_engine_module& module_;
  distribute_engine_group* group_ = nullptr;
  bool broken_ = false;
};

}  // namespace distribute::collective
