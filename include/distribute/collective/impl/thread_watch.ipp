#pragma once
#include <distribute/base/detail/each_second.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/detail/line_times.hpp>
#include <distribute/cluster/detail/progress_board.hpp>
#include <distribute/collective/detail/thread_watch.hpp>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace distribute::collective {

/// Looks at the ranks' newest collectives once a second.
class ThreadWatch {
 public:
  explicit ThreadWatch(std::vector<std::shared_ptr<Communicator>> ranks)
      : ranks_(std::move(ranks)), thread_("collectives that take long", [this] { look(); }) {}

 private:
  void look();
  std::string line(const Signature& signature, double seconds) const;

  const std::vector<std::shared_ptr<Communicator>> ranks_;
  uint64_t sequence_ = 0;  // of the collective that waits
  double next_line_ = 0;
  base_internal::EachSecond thread_;
};

/// The rank that waits longest speaks for all.
DISTRIBUTE_INLINE void ThreadWatch::look() {
  std::optional<FlightRecorder::Record> oldest;
  for (const auto& rank : ranks_)
    if (const auto running = rank->recorder().running())
      if (!oldest || running->started < oldest->started) oldest = running;
  if (!oldest || oldest->signature.sequence != sequence_)
    next_line_ = cluster_internal::next_line_after(0);
  if (!oldest) return;
  sequence_ = oldest->signature.sequence;
  const auto now = FlightRecorder::Clock::now();
  const double seconds = std::chrono::duration<double>(now - oldest->started).count();
  if (seconds < next_line_) return;
  next_line_ = cluster_internal::next_line_after(seconds);
  log_warning("collective", line(oldest->signature, seconds));
}

DISTRIBUTE_INLINE std::string ThreadWatch::line(const Signature& signature, double seconds) const {
  const std::string place = "in " + to_string(signature);
  std::string there, missing;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    const std::string position = ranks_[rank]->recorder().position();
    const bool here = cluster_internal::place_of(position) == place;
    std::string& names = here ? there : missing;
    names += str_cat(names.empty() ? "" : ", ", "replica ", rank,
                     here ? "" : str_cat(" (", position, ")"));
  }
  return str_cat(there, there.find(',') == std::string::npos ? " has" : " have", " waited for ",
                 std::floor(seconds), " s ", place,
                 missing.empty() ? "; all are in it" : "; not there: ", missing);
}

DISTRIBUTE_INLINE std::shared_ptr<void> watch_threads(
    std::vector<std::shared_ptr<Communicator>> ranks) {
  return std::make_shared<ThreadWatch>(std::move(ranks));
}

}  // namespace distribute::collective
