#pragma once
/// Meetings of the replica threads of one process, and their end when one of them fails.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/each_second.hpp>
#include <distribute/replica/detail/meeting.hpp>
#include <distribute/strategy/detail/run_spans.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace distribute::strategy_internal {

/// A meeting point for a fixed number of replicas, one thread each; thread-safe between begin() and
/// the end of the last replica.
/// 1. Replica 0 leads each meeting: it calls `lead` after all others have arrived, and before any
///    of them goes on.
/// 2. A meeting ends only when all replicas have entered the same number of meetings, for the same
///    reason; a difference breaks the group.
/// 3. `arrived_` counts the replicas other than 0 that wait; it is 0 between meetings of a group
///    that is not broken.
/// 4. `released_` changes when a meeting ends and when the group breaks, at no other time.
/// 5. Replicas that wait for another one for long are logged, after 10, 30 and 60 s, then each
///    minute; no wait has a limit, as a thread cannot be ended.
/// 6. A broken group keeps its first error, and each of its meetings throws until begin().
class ReplicaGroup {
 public:
  explicit ReplicaGroup(int size);
  int size() const { return size_; }

  /// Records meetings as spans of the replicas' rows from this call on.
  void record(std::shared_ptr<const RunSpans> spans) { spans_ = std::move(spans); }
  /// Starts the group anew. Call it before the replicas start.
  void begin();

  /// Waits for all replicas, which must come with the same `what`; then replica 0 calls its `lead`
  /// (if any), and all go on.
  /// Throws  AbortedError when the group is broken; FailedPreconditionError when replicas meet for
  ///         different reasons; on replica 0 what `lead` throws.
  void meet(int replica, const char* what, const std::function<void()>& lead = {});
  /// A meeting to which each replica brings an object: replica 0 calls
  /// lead(replica_internal::Meeting<T>) with those of all.
  template <typename T, typename Lead>
  void meet(int replica, const char* what, T& mine, Lead&& lead) {
    meet_untyped(replica, what, replica_internal::untyped(mine),
                 replica_internal::untyped_lead<T>(lead));
  }
  /// Implements both functions above.
  void meet_untyped(int replica, const char* what, void* mine,
                    const replica_internal::MeetingLead& lead);

  /// Sets the text about a replica for errors of meetings; empty for no text. The replica's thread
  /// calls it.
  void note(int replica, std::string text);
  /// Returns "; replica 1 ...", for the end of an error's message.
  std::string notes() const;

  /// Tells the group that the replica's function has returned: it takes part in no further
  /// reduction.
  void finish(int replica);
  /// Tells the group that the replica's function has thrown: breaks the group; the first error is
  /// kept.
  void fail(std::exception_ptr error);
  /// Throws the first error, if there was one. Call it after all replicas have ended.
  void rethrow();

 private:
  struct alignas(64) Place {
    void* argument = nullptr;
    std::atomic<const char*> what{nullptr};  // of the newest meeting
    std::atomic<bool> waits{false};          // in that meeting, or for its lead
    std::atomic<uint32_t> meetings{0};       // entered so far
    std::atomic<uint32_t> last{~0u};         // number of meetings of a replica that has returned
  };
  /// Says where the replicas of a run are; equal ones mean that none has come further.
  struct Positions {
    std::vector<uint32_t> meetings;
    std::vector<bool> waits, ended;
    bool operator==(const Positions&) const = default;
    bool one_is_missing() const;
  };
  Positions positions() const;
  void look();
  std::string line(const Positions& now, double seconds) const;
  void enter(int replica);
  void lead_meeting(const replica_internal::MeetingLead& lead);
  void check_same() const;
  void check_alive() const;
  [[noreturn]] void throw_uneven();

  const int size_;
  std::shared_ptr<const RunSpans> spans_ = std::make_shared<RunSpans>();
  std::vector<Place> places_;
  std::vector<void*> arguments_;
  alignas(64) std::atomic<uint32_t> arrived_{0};
  alignas(64) std::atomic<uint32_t> released_{0};
  std::atomic<bool> broken_{false};
  mutable std::mutex error_mutex_;  // guards the next two members
  std::vector<std::string> notes_;
  std::exception_ptr error_;
  std::atomic<bool> runs_{false};  // between begin() and rethrow()
  // Used by the thread of watch_.
  Positions seen_;
  std::chrono::steady_clock::time_point since_;
  double next_line_ = 0;
  std::optional<base_internal::EachSecond> watch_;  // unset: no run yet, or a single replica
};

}  // namespace distribute::strategy_internal
