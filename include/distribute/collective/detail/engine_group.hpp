#pragma once
/// A group of an engine module, with its errors as exceptions, and a thread that moves messages on
/// between operations.

#include <distribute/collective/engine_module.h>
#include <distribute/base/config.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/net/deadline.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace distribute::collective {

/// Owns the group. Thread-compatible.
///
/// A message that was sent may still need this rank: a part of it lies in the module's memory, or
/// the other rank's library waits for an answer of this one's. If a module declares that, a thread
/// calls it while the caller does not: otherwise a rank that computes, or waits for something else,
/// could block the others for ever.
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
  void all_reduce(const void* input, void* output, int64_t count, int dtype, int op,
                  uint64_t cookie);
  /// Returns the events that have come, at most as many as fit. `moved` tells whether any data have
  /// moved, parts of messages included if the engine reports them.
  std::span<const distribute_engine_event> progress(std::span<distribute_engine_event> events,
                                                    bool& moved);
  /// Returns a descriptor on which the caller waits before it calls progress() again.
  int wait_handle();

  /// Notes that other ranks may be gone: the destructor then waits for nothing.
  void set_broken();

 private:
  void check(int code, const distribute_engine_error& error) const;
  void give_turns();
  int take_turn(uint64_t& seen);

  const distribute_engine_module& module_;
  net::WakeUp stop_;
  std::mutex mutex_;  // guards all below, and the calls of the module
  distribute_engine_group* group_ = nullptr;
  uint64_t turns_ = 0;  // calls of the caller
  bool waits_ = false;  // whether the caller waits for the descriptor
  bool broken_ = false;
  std::thread thread_;
};

}  // namespace distribute::collective
