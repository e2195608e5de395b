#pragma once
/// Sets the learning rate at the beginning of every epoch.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace distribute::train {

/// `schedule(epoch, rate)` or `schedule(epoch)` gives the rate of the epoch; the same function on
/// all workers. The logs of the epoch get it as "learning_rate".
/// Source  tf.keras.callbacks.LearningRateScheduler
class LearningRateScheduler : public Callback {
 public:
  template <typename F>
  requires std::is_invocable_r_v<double, F&, int64_t, double>
  explicit LearningRateScheduler(F schedule, bool verbose = false)
      : schedule_(std::move(schedule)), verbose_(verbose) {}
  template <typename F>
  requires std::is_invocable_r_v<double, F&, int64_t>
  explicit LearningRateScheduler(F schedule, bool verbose = false)
      : schedule_([schedule = std::move(schedule)](int64_t epoch, double) {
          return double(schedule(epoch));
        }),
        verbose_(verbose) {}

  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 private:
  std::function<double(int64_t, double)> schedule_;
  bool verbose_;
};

}  // namespace distribute::train
