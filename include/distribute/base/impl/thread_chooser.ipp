#pragma once
#include <distribute/base/detail/thread_chooser.hpp>

#include <algorithm>

namespace distribute::base_internal {

namespace thread_chooser {
inline constexpr double kSettleSeconds = 0.05, kTrialSeconds = 0.15;
inline constexpr double kFirstPause = 6, kLongestPause = 30;
inline constexpr int kFreeObservations = 10;
/// Threads that gain less than a tenth are left out: trials are short, and beside a neighbour the
/// fewer threads stay undisturbed.
inline constexpr double kNearlyBest = 0.9;
}  // namespace thread_chooser

DISTRIBUTE_INLINE ThreadChooser::ThreadChooser(int most) : most_(most), threads_(most) {}

DISTRIBUTE_INLINE void ThreadChooser::set_most(int most) {
  if (most != most_) *this = ThreadChooser(most);
}

DISTRIBUTE_INLINE void ThreadChooser::observe(double now, bool crowded, bool may_try) {
  may_try_ = may_try;
  crowded_ = crowded ? crowded_ + 1 : 0;
  free_ = crowded ? 0 : free_ + 1;
  if (state_ == State::Quiet && crowded_ >= 2) {
    pause_ = thread_chooser::kFirstPause;
    begin_trials(now);
  } else if (state_ == State::Settled && threads_ == most_ &&
             free_ >= thread_chooser::kFreeObservations) {
    state_ = State::Quiet;
  }
}

DISTRIBUTE_INLINE void ThreadChooser::begin_trials(double now) {
  state_ = State::Settled;
  next_trials_ = now + pause_;
  if (!can_try()) return;
  state_ = State::Trying;
  trials_.clear();
  for (int threads : {most_, most_ - 1, most_ / 2, 1})
    if (trials_.empty() || trials_.back().threads > threads)
      trials_.push_back({.threads = threads});
  trial_ = 0;
  begin_trial(now);
}

DISTRIBUTE_INLINE void ThreadChooser::begin_trial(double now) {
  threads_ = trials_[trial_ % trials_.size()].threads;
  settled_at_ = now + thread_chooser::kSettleSeconds;
  counted_from_ = -1;
  steps_ = 0;
}

DISTRIBUTE_INLINE void ThreadChooser::step(double now) {
  if (state_ == State::Settled && now >= next_trials_ && can_try()) begin_trials(now);
  if (state_ != State::Trying || now < settled_at_) return;
  if (counted_from_ < 0) {
    counted_from_ = now;
    return;
  }
  ++steps_;
  const double seconds = now - counted_from_;
  if (seconds < thread_chooser::kTrialSeconds) return;
  Trial& trial = trials_[trial_ % trials_.size()];
  trial.steps += steps_;
  trial.seconds += seconds;
  ++trial_;
  if (trial_ == 2 * trials_.size() || (trial_ == trials_.size() && is_clear()))
    return end_trials(now);
  begin_trial(now);
}

DISTRIBUTE_INLINE bool ThreadChooser::is_clear() const {
  std::vector<double> rates;
  for (const Trial& trial : trials_) rates.push_back(trial.rate());
  std::sort(rates.rbegin(), rates.rend());
  return rates[0] > 1.2 * rates[1];
}

DISTRIBUTE_INLINE void ThreadChooser::end_trials(double now) {
  double best = 0;
  for (const Trial& trial : trials_) best = std::max(best, trial.rate());
  for (const Trial& trial : trials_)  // from most to one
    if (trial.rate() >= thread_chooser::kNearlyBest * best) threads_ = trial.threads;
  state_ = State::Settled;
  free_ = 0;
  tried_at_ = now;
  next_trials_ = now + pause_;
  pause_ = std::min(2 * pause_, thread_chooser::kLongestPause);
}

DISTRIBUTE_INLINE void ThreadChooser::hurry(double now) {
  if (state_ != State::Settled || threads_ == most_) return;
  next_trials_ = std::min(next_trials_, std::max(now, tried_at_ + pause_ / 4));
}

}  // namespace distribute::base_internal
