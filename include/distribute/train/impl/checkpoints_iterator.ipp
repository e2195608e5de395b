#pragma once
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE CheckpointsIterator::CheckpointsIterator(std::string checkpoint_dir,
                                                           CheckpointsIteratorOptions options)
    : directory_(std::move(checkpoint_dir)), options_(std::move(options)) {
  if (!options_.sleep)
    options_.sleep = [](double seconds) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    };
}

/// Waits until there is a new checkpoint or the time is over.
DISTRIBUTE_INLINE std::optional<std::string> CheckpointsIterator::wait() {
  const double began = steady_seconds(options_.clock);
  while (true) {
    const auto latest = latest_checkpoint(directory_);
    if (latest && latest != last_) return latest;
    if (options_.timeout && steady_seconds(options_.clock) >= began + *options_.timeout)
      return std::nullopt;
    options_.sleep(options_.seconds_to_sleep);
  }
}

DISTRIBUTE_INLINE std::optional<std::string> CheckpointsIterator::next() {
  const double now = steady_seconds(options_.clock);
  if (last_time_ && now < *last_time_ + options_.min_interval_secs)
    options_.sleep(*last_time_ + options_.min_interval_secs - now);
  while (true) {
    if (auto path = wait()) {
      last_ = path;
      last_time_ = steady_seconds(options_.clock);
      return path;
    }
    if (!options_.timeout_fn || options_.timeout_fn()) return std::nullopt;
  }
}

DISTRIBUTE_INLINE void CheckpointsIterator::retry() {
  last_.reset();
  options_.sleep(options_.seconds_to_sleep);
}

DISTRIBUTE_INLINE std::optional<int64_t> checkpoint_number(const std::string& prefix) {
  const size_t dash = prefix.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  int64_t number = 0;
  const char* end = prefix.data() + prefix.size();
  const auto read = std::from_chars(prefix.data() + dash + 1, end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace distribute::train
