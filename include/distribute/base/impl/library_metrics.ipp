#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/detail/core_watch.hpp>
#include <distribute/base/detail/library_metrics.hpp>

#include <chrono>

namespace distribute::monitoring {

DISTRIBUTE_INLINE LibraryMetrics::LibraryMetrics()
    : train_steps(MetricMaker{registry}.counter("distribute_train_steps_total",
                                                "Steps of optimizers in this task.")),
      step_seconds(MetricMaker{registry}.seconds("distribute_step_seconds",
                                                 "Time from one step to the next.")),
      log_lines(MetricMaker{registry}.labelled("distribute_log_lines_total", "Lines of the log.",
                                               {"level"})) {
  registry
      .gauge({.name = "distribute_build_info",
              .description = "1 for the version and the compiler of this program.",
              .labels = {"version", "compiler"}})
      .get_cell({kVersion, __VERSION__})
      .set(1);
}

DISTRIBUTE_INLINE void LibraryMetrics::count_step() noexcept {
  using namespace std::chrono;
  const int64_t now = nanoseconds(steady_clock::now().time_since_epoch()).count();
  const int64_t last = last_step_.exchange(now, std::memory_order_relaxed);
  train_steps.increment_by();
  if (last > 0) step_seconds.add(double(now - last) * 1e-9);
  base_internal::watch_cores();
}

}  // namespace distribute::monitoring
