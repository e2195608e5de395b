#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/strategy/detail/replica_group.hpp>
#include <distribute/strategy/detail/wait.hpp>

#include <cstring>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE ReplicaGroup::ReplicaGroup(int size)
    : size_(size), places_(size_t(size)), arguments_(size_t(size)), notes_(size_t(size)) {}

DISTRIBUTE_INLINE void ReplicaGroup::begin() {
  for (Place& place : places_) {
    place.meetings = 0;
    place.last = ~0u;
  }
  arrived_ = 0;
  broken_ = false;
  error_ = nullptr;
  notes_.assign(notes_.size(), "");
}

DISTRIBUTE_INLINE void ReplicaGroup::note(int replica, std::string text) {
  const std::lock_guard lock(error_mutex_);
  notes_[size_t(replica)] = std::move(text);
}

DISTRIBUTE_INLINE std::string ReplicaGroup::notes() const {
  const std::lock_guard lock(error_mutex_);
  std::string all;
  for (size_t r = 0; r < notes_.size(); ++r)
    if (!notes_[r].empty()) all += str_cat("; replica ", r, " ", notes_[r]);
  return all;
}

DISTRIBUTE_INLINE void ReplicaGroup::check_alive() const {
  if (broken_) throw AbortedError("another replica failed, so this one cannot go on");
}

DISTRIBUTE_INLINE void ReplicaGroup::throw_uneven() {
  std::string counts;
  for (size_t r = 0; r < places_.size(); ++r)
    counts += str_cat(r ? ", " : "", "replica ", r, " made ", places_[r].meetings.load());
  const FailedPreconditionError error(
      "Some replicas made a different number of replica_context().merge_call() calls (all_reduce "
      "and the like count): " +
      counts + notes());
  fail(std::make_exception_ptr(error));
  throw error;
}

// A replica that returns publishes its count and then looks at the others' entries; one that
// enters publishes its entry and then looks at the others' counts: one of two sees the other.
DISTRIBUTE_INLINE void ReplicaGroup::enter(int replica) {
  check_alive();
  const uint32_t meeting = ++places_[size_t(replica)].meetings;
  for (const Place& place : places_)
    if (place.last.load() < meeting) throw_uneven();
}

DISTRIBUTE_INLINE void ReplicaGroup::finish(int replica) {
  Place& own = places_[size_t(replica)];
  const uint32_t meetings = own.meetings.load();
  own.last = meetings;
  for (const Place& place : places_)
    if (!broken_ && place.meetings.load() > meetings) throw_uneven();
}

DISTRIBUTE_INLINE void ReplicaGroup::meet(int replica, const char* what, void* argument,
                                          const Lead& lead) {
  if (size_ > 1 && RecordedStep::current())
    autograd_internal::refuse_in_recording(str_cat("replicas meet for '", what, "'"));
  const monitoring::RecordedSpan span = spans_->replica(replica, what);
  enter(replica);
  Place& own = places_[size_t(replica)];
  own.argument = argument;
  own.what = what;
  if (replica == 0) return lead_meeting(lead);
  const uint32_t round = released_.load();
  check_alive();  // after reading the round, so that a failure from now on changes it
  arrived_.fetch_add(1);
  arrived_.notify_one();
  wait_while_equal(released_, round, size_);
  check_alive();
}

DISTRIBUTE_INLINE void ReplicaGroup::lead_meeting(const Lead& lead) {
  const auto others = uint32_t(size_ - 1);
  for (uint32_t seen; (seen = arrived_.load()) != others;) {
    check_alive();
    wait_while_equal(arrived_, seen, size_);
  }
  try {
    check_alive();
    check_same();
    for (size_t r = 0; r < places_.size(); ++r) arguments_[r] = places_[r].argument;
    if (lead) lead(arguments_);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
  arrived_ = 0;
  released_.fetch_add(1);
  released_.notify_all();
}

DISTRIBUTE_INLINE void ReplicaGroup::check_same() const {
  for (size_t r = 1; r < places_.size(); ++r)
    if (std::strcmp(places_[0].what, places_[r].what) != 0)
      throw FailedPreconditionError(
          str_cat("replicas must make the same calls in the same order: ", "replica 0 called ",
                  places_[0].what, ", replica ", r, " called ", places_[r].what, notes()));
}

DISTRIBUTE_INLINE void ReplicaGroup::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::move(error);
  }
  broken_ = true;
  arrived_.fetch_add(uint32_t(size_));  // wakes replica 0; no number it waits for
  arrived_.notify_all();
  released_.fetch_add(1);
  released_.notify_all();
}

DISTRIBUTE_INLINE void ReplicaGroup::rethrow() {
  if (broken_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace distribute::strategy_internal
