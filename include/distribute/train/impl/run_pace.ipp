#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/train/detail/run_pace.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace distribute::train_internal {

inline constexpr double kMicro = 1e-6;  // unit of the gauges, which hold whole numbers

/// Converts to millionths; NaN becomes the largest number.
DISTRIBUTE_INLINE int64_t micros(double value) {
  constexpr double kMost = 9e18;
  return std::isnan(value) ? std::numeric_limits<int64_t>::max()
                           : int64_t(std::clamp(value / kMicro, -kMost, kMost));
}

/// The gauges appear at the first step that has a figure for them.
struct LossGauge {
  monitoring::GaugeCell& cell =
      monitoring::default_registry()
          .gauge({.name = "distribute_train_loss",
                  .description = "Loss of the last step, in fit the mean of the epoch so far.",
                  .unit = kMicro})
          .get_cell();
};
struct TimeLeftGauge {
  monitoring::GaugeCell& cell =
      monitoring::default_registry()
          .gauge({.name = "distribute_train_seconds_left",
                  .description = "Time until the last step, at the pace of this run.",
                  .unit = kMicro})
          .get_cell();
};

DISTRIBUTE_INLINE RunPace::RunPace(int64_t first_step)
    : first_step_(first_step), began_(base_internal::steady_seconds()) {}

DISTRIBUTE_INLINE void RunPace::step_done(int64_t step, std::optional<int64_t> total,
                                          const train::Logs& values) {
  if (const auto found = values.find("loss")) in_process<LossGauge>().cell.set(micros(*found));
  if (!total || step <= first_step_) return;
  const double each = (base_internal::steady_seconds() - began_) / double(step - first_step_);
  const int64_t steps_left = std::max<int64_t>(*total - step, 0);
  in_process<TimeLeftGauge>().cell.set(micros(each * double(steps_left)));
}

}  // namespace distribute::train_internal
