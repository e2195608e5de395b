#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/strategy/detail/replica_group.hpp>
#include <distribute/strategy/detail/wait.hpp>

#include <cmath>
#include <cstring>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE ReplicaGroup::ReplicaGroup(int size)
    : size_(size), places_(size_t(size)), arguments_(size_t(size)), notes_(size_t(size)) {}

DISTRIBUTE_INLINE void ReplicaGroup::begin() {
  for (Place& place : places_) {
    place.meetings = 0;
    place.last = ~0u;
    place.waits = false;
  }
  arrived_ = 0;
  broken_ = false;
  error_ = nullptr;
  notes_.assign(notes_.size(), "");
  runs_ = true;
  if (size_ > 1 && !watch_) watch_.emplace("replicas that wait for long", [this] { look(); });
}

DISTRIBUTE_INLINE ReplicaGroup::Positions ReplicaGroup::positions() const {
  Positions now;
  for (const Place& place : places_) {
    now.meetings.push_back(place.meetings);
    now.waits.push_back(place.waits);
    now.ended.push_back(place.last != ~0u);
  }
  return now;
}

/// Returns whether a replica neither waits nor has ended while others do.
DISTRIBUTE_INLINE bool ReplicaGroup::Positions::one_is_missing() const {
  size_t there = 0;
  for (size_t r = 0; r < waits.size(); ++r) there += waits[r] || ended[r];
  return there > 0 && there < waits.size();
}

DISTRIBUTE_INLINE void ReplicaGroup::look() {
  const auto now = std::chrono::steady_clock::now();
  Positions here = positions();
  if (!runs_ || broken_ || here != seen_) {
    seen_ = std::move(here);
    since_ = now;
    next_line_ = cluster_internal::next_line_after(0);
    return;
  }
  const double seconds = std::chrono::duration<double>(now - since_).count();
  if (seconds < next_line_ || !here.one_is_missing()) return;
  next_line_ = cluster_internal::next_line_after(seconds);
  log_warning("strategy", line(here, seconds));
}

/// Returns "replica 0 has waited for 10 s in 'all_reduce', meeting 4 of this run; not there:
/// replica 1 (after 3 meetings)".
DISTRIBUTE_INLINE std::string ReplicaGroup::line(const Positions& now, double seconds) const {
  std::string there, what, missing;
  for (size_t r = 0; r < places_.size(); ++r) {
    const std::string name = str_cat("replica ", r);
    if (!now.waits[r] && !now.ended[r]) {
      missing += str_cat(missing.empty() ? "" : ", ", name, " (after ", now.meetings[r],
                         now.meetings[r] == 1 ? " meeting)" : " meetings)");
      continue;
    }
    there += (there.empty() ? "" : ", ") + name;
    const char* const reason = places_[r].what;
    what = now.waits[r] && reason
               ? str_cat("in '", reason, "', meeting ", now.meetings[r], " of this run")
               : "for the end of this run";
  }
  return str_cat(there, there.find(',') == std::string::npos ? " has" : " have", " waited for ",
                 std::floor(seconds), " s ", what, "; not there: ", missing);
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

DISTRIBUTE_INLINE void ReplicaGroup::meet(int replica, const char* what,
                                          const std::function<void()>& lead) {
  meet_untyped(replica, what, nullptr, [&](std::span<void* const>) {
    if (lead) lead();
  });
}

DISTRIBUTE_INLINE void ReplicaGroup::meet_untyped(int replica, const char* what, void* mine,
                                                  const replica_internal::MeetingLead& lead) {
  if (size_ > 1 && RecordedStep::current())
    autograd_internal::refuse_in_recording(str_cat("replicas meet for '", what, "'"));
  const monitoring::RecordedSpan span = spans_->replica(replica, what);
  enter(replica);
  Place& own = places_[size_t(replica)];
  own.argument = mine;
  own.what = what;
  if (replica == 0) return lead_meeting(lead);
  const uint32_t round = released_.load();
  check_alive();  // after reading the round, so that a failure from now on changes it
  arrived_.fetch_add(1);
  arrived_.notify_one();
  own.waits = true;
  wait_while_equal(released_, round, size_);
  own.waits = false;
  check_alive();
}

DISTRIBUTE_INLINE void ReplicaGroup::lead_meeting(const replica_internal::MeetingLead& lead) {
  const auto others = uint32_t(size_ - 1);
  places_[0].waits = true;  // also while it leads
  for (uint32_t seen; (seen = arrived_.load()) != others;) {
    check_alive();
    wait_while_equal(arrived_, seen, size_);
  }
  try {
    check_alive();
    check_same();
    for (size_t r = 0; r < places_.size(); ++r) arguments_[r] = places_[r].argument;
    lead(arguments_);
  } catch (...) {
    fail(std::current_exception());
    throw;
  }
  places_[0].waits = false;
  arrived_ = 0;
  released_.fetch_add(1);
  released_.notify_all();
}

DISTRIBUTE_INLINE void ReplicaGroup::check_same() const {
  for (size_t r = 1; r < places_.size(); ++r)
    if (std::strcmp(places_[0].what.load(), places_[r].what.load()) != 0)
      throw FailedPreconditionError(str_cat(
          "replicas must make the same calls in the same order: ", "replica 0 called ",
          places_[0].what.load(), ", replica ", r, " called ", places_[r].what.load(), notes()));
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
  runs_ = false;
  if (broken_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace distribute::strategy_internal
