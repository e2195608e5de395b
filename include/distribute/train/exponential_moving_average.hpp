#pragma once
/// Averages of weights, and the callback that evaluates with them.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace distribute::train {

struct ExponentialMovingAverageOptions {  // options of ExponentialMovingAverage
  double decay = 0.999;
  /// With the number of updates n the decay is at most (1 + n) / (10 + n): quick at the beginning.
  std::function<int64_t()> num_updates = {};
  std::string name = "ExponentialMovingAverage";
};

/// average -= (1 - decay) (average - variable), beginning with the variable's value when it is seen
/// first. Averages are variables "<variable>/<name>"; a checkpoint with the object as a part holds
/// them. Made in the strategy's scope; used outside of strategy.run, by all workers alike.
///
///   ExponentialMovingAverage ema({.decay = 0.9999});
///   ... after each step: ema.apply(model.trainable_variables());
///   const auto averaged = ema.averaged_weights();  // while it lives the model has the averages
///
/// Source  tf.train.ExponentialMovingAverage
class ExponentialMovingAverage : public Trackable {
 public:
  explicit ExponentialMovingAverage(EmptyBraces) : ExponentialMovingAverage() {}
  /// Throws  InvalidArgumentError for a decay outside [0, 1).
  explicit ExponentialMovingAverage(ExponentialMovingAverageOptions options = {});

  /// Makes the averages of variables that have none, with their values or those of a checkpoint
  /// that was restored.
  void build(const std::vector<Variable>& variables);
  /// Adds the present values of these variables to their averages.
  void apply(const std::vector<Variable>& variables);
  /// None for a variable that apply has not seen.
  Variable average(const Variable& variable) const;
  std::string average_name(const Variable& variable) const;
  /// Exchanges all variables with their averages; twice restores both.
  void swap();

  class [[nodiscard]] AveragedWeights {
   public:
    explicit AveragedWeights(ExponentialMovingAverage& ema) : ema_(ema) { ema.swap(); }
    ~AveragedWeights();
    AveragedWeights(const AveragedWeights&) = delete;
    AveragedWeights& operator=(const AveragedWeights&) = delete;

   private:
    ExponentialMovingAverage& ema_;
  };
  /// The averages stand in the model's variables while the result lives.
  AveragedWeights averaged_weights() { return AveragedWeights(*this); }

  DISTRIBUTE_INLINE std::vector<NamedVariable> own_variables() const override;

 private:
  struct Pair {
    Variable variable, average;
  };
  const Pair* find(const Variable& variable) const;
  void track(const Variable& variable);

  ExponentialMovingAverageOptions options_;
  std::vector<Pair> pairs_;
};

/// Puts the averages in the place of the weights during every evaluation: those that an optimizer
/// with use_ema keeps, or those of an ExponentialMovingAverage, which it then applies after every
/// batch to the trained weights. With `swap_on_epoch` from the end of an epoch to the beginning of
/// the next, so that what other callbacks save are the averages. At the end the weights are the
/// averages of the optimizer, as `fit` leaves them; also where a callback stopped the training in
/// its middle, where Keras leaves the weights before averaging.
/// Source  tf.keras.callbacks.SwapEMAWeights
class SwapEMAWeights : public Callback {
 public:
  explicit SwapEMAWeights(bool swap_on_epoch = false) : swap_on_epoch_(swap_on_epoch) {}
  explicit SwapEMAWeights(ExponentialMovingAverage& ema, bool swap_on_epoch = false)
      : ema_(&ema), swap_on_epoch_(swap_on_epoch) {}

  DISTRIBUTE_INLINE void on_train_batch_end(int64_t batch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_test_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_test_end(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_begin(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  DISTRIBUTE_INLINE void on_train_end(Logs& logs) override;
  DISTRIBUTE_INLINE CheckpointParts state() override;
  bool wants_batch_metrics() const override { return false; }

 private:
  void set_averaged(bool averaged);

  ExponentialMovingAverage* ema_ = nullptr;
  bool swap_on_epoch_, averaged_ = false;
};

}  // namespace distribute::train
