#pragma once
/// Shows a training's loss and the time that is left at the metrics' port, for `distribute top`.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <optional>

namespace distribute::train_internal {

/// One run, whose pace is that since its construction.
class RunPace {
 public:
  /// `first_step` steps were done before.
  explicit RunPace(int64_t first_step = 0);
  /// Sets the gauges distribute_train_loss, from "loss" of `values`, and
  /// distribute_train_seconds_left, once `total` is known.
  void step_done(int64_t step, std::optional<int64_t> total, const train::Logs& values);

 private:
  int64_t first_step_;
  double began_;  // on the steady clock, in seconds
};

}  // namespace distribute::train_internal
