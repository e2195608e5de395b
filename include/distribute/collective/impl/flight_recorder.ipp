#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/flight_recorder.hpp>

#include <algorithm>
#include <cstdio>

namespace distribute::collective {

DISTRIBUTE_INLINE uint64_t FlightRecorder::queue(const Operation& operation) {
  const std::lock_guard lock(mutex_);
  records_[next_ % records_.size()] = {.signature = signature_of(operation),
                                       .bytes = bytes_of(operation),
                                       .state = State::Queued,
                                       .queued = Clock::now(),
                                       .started = {},
                                       .ended = {}};
  return next_++;
}

DISTRIBUTE_INLINE FlightRecorder::Record* FlightRecorder::find(uint64_t number) {
  return next_ - number <= records_.size() ? &records_[number % records_.size()] : nullptr;
}

DISTRIBUTE_INLINE void FlightRecorder::start(uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (Record* record = find(number)) {
    record->state = State::Running;
    record->started = Clock::now();
  }
}

DISTRIBUTE_INLINE void FlightRecorder::end(uint64_t number, bool failed) {
  const std::lock_guard lock(mutex_);
  if (Record* record = find(number)) {
    record->state = failed ? State::Failed : State::Done;
    record->ended = Clock::now();
  }
}

DISTRIBUTE_INLINE std::vector<FlightRecorder::Record> FlightRecorder::records() const {
  const std::lock_guard lock(mutex_);
  std::vector<Record> result;
  for (uint64_t i = next_ - std::min<uint64_t>(next_, records_.size()); i < next_; ++i)
    result.push_back(records_[i % records_.size()]);
  return result;
}

DISTRIBUTE_INLINE std::optional<FlightRecorder::Record> FlightRecorder::record(
    uint64_t number) const {
  const std::lock_guard lock(mutex_);
  if (next_ - number > records_.size()) return std::nullopt;
  return records_[number % records_.size()];
}

DISTRIBUTE_INLINE std::optional<FlightRecorder::Record> FlightRecorder::running() const {
  const std::lock_guard lock(mutex_);
  for (uint64_t i = next_; i > next_ - std::min<uint64_t>(next_, records_.size()); --i) {
    const Record& one = records_[(i - 1) % records_.size()];
    if (one.state == State::Running) return one;
    if (one.state != State::Queued) break;
  }
  return std::nullopt;
}

DISTRIBUTE_INLINE double seconds_between(FlightRecorder::Clock::time_point from,
                                         FlightRecorder::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

DISTRIBUTE_INLINE std::string FlightRecorder::position() const {
  const std::vector<Record> all = records();
  const auto begun = std::find_if(all.rbegin(), all.rend(),
                                  [](const Record& r) { return r.state != State::Queued; });
  if (begun == all.rend()) return "before the first collective";
  const std::string what = to_string(begun->signature);
  const bool running = begun->state == State::Running;
  const double seconds = seconds_between(running ? begun->started : begun->ended, Clock::now());
  char text[64];
  std::snprintf(text, sizeof text, running ? " for %.1f s" : " ended %.1f s ago", seconds);
  const char* prefix = running ? "in " : begun->state == State::Failed ? "failed in " : "after ";
  return prefix + what + text;
}

DISTRIBUTE_INLINE std::string FlightRecorder::table(size_t lines) const {
  static constexpr const char* kStates[] = {"queued", "running", "done", "failed"};
  const std::vector<Record> all = records();
  const auto now = Clock::now();
  std::string text;
  for (size_t i = all.size() - std::min(lines, all.size()); i < all.size(); ++i) {
    char line[128];
    std::snprintf(line, sizeof line, "  %-8s %10.3f s ago %12lld bytes  ",
                  kStates[size_t(all[i].state)], seconds_between(all[i].queued, now),
                  static_cast<long long>(all[i].bytes));
    text += str_cat(line, to_string(all[i].signature), "\n");
  }
  return text;
}

}  // namespace distribute::collective
