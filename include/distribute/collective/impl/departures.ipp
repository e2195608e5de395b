#pragma once
#include <distribute/collective/detail/departures.hpp>

#include <algorithm>
#include <chrono>

namespace distribute::collective {

DISTRIBUTE_INLINE RankLeftError::RankLeftError(const std::string& reason, int rank,
                                               const Operation& operation)
    : UnavailableError(str_cat(reason, ", and rank ", rank, " waits for it in ",
                               to_string(signature_of(operation)))),
      operation_(to_string(signature_of(operation))) {}

DISTRIBUTE_INLINE void Departures::add(int rank, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  all_.try_emplace(rank, Departure{reason, net::Deadline::Clock::now()});
  any_.store(true, std::memory_order_release);
}

DISTRIBUTE_INLINE bool Departures::has(int rank) const {
  const std::lock_guard lock(mutex_);
  return all_.contains(rank);
}

DISTRIBUTE_INLINE bool Departures::Departure::silent_since(Time moved) const {
  return net::Deadline::Clock::now() - std::max(moved, told) > std::chrono::seconds(1);
}

DISTRIBUTE_INLINE void Departures::throw_if_left(int rank, int me,
                                                 const Operation& operation) const {
  const std::lock_guard lock(mutex_);
  const auto left = all_.find(rank);
  if (left != all_.end()) throw RankLeftError(left->second.reason, me, operation);
}

DISTRIBUTE_INLINE void Departures::throw_if_silent(int rank, Time moved, int me,
                                                   const Operation& operation) const {
  const std::lock_guard lock(mutex_);
  const auto left = all_.find(rank);
  if (left != all_.end() && left->second.silent_since(moved))
    throw RankLeftError(left->second.reason, me, operation);
}

DISTRIBUTE_INLINE void Departures::throw_if_any_silent(Time moved, int me,
                                                       const Operation& operation) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [rank, left] : all_)
    if (left.silent_since(moved)) throw RankLeftError(left.reason, me, operation);
}

}  // namespace distribute::collective
