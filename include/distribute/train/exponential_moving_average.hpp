#pragma once
/// Moving averages of weights, and a callback that evaluates with them.

#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/train/callback.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace distribute::train {

struct ExponentialMovingAverageOptions {  // options of ExponentialMovingAverage
  double decay = 0.999;
  /// Returns the number of updates n, which limits the decay to (1 + n) / (10 + n), so that the
  /// average follows faster at the beginning.
  std::function<int64_t()> num_updates = {};
  std::string name = "ExponentialMovingAverage";
};

/// Computes average -= (1 - decay) (average - variable), beginning with the variable's value at its
/// first update. Averages are variables "<variable>/<name>"; a checkpoint with this object as a
/// part holds them. Make it in the strategy's scope and use it outside of strategy.run, on all
/// workers alike.
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

  /// Makes averages of variables that have none, with the variables' values or those of a restored
  /// checkpoint.
  void build(const std::vector<Variable>& variables);
  /// Adds the current values of these variables to their averages.
  void apply(const std::vector<Variable>& variables);
  /// Returns an empty handle for a variable that apply has not seen.
  Variable average(const Variable& variable) const;
  std::string average_name(const Variable& variable) const;
  /// Exchanges all variables with their averages; a second call restores both.
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
  /// Puts the averages into the model's variables while the result lives.
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

struct SwapEMAWeightsOptions {  // options of SwapEMAWeights
  bool swap_on_epoch = false;
};

/// Replaces the weights by averages during every evaluation: by those that an optimizer with
/// use_ema keeps, or those of an ExponentialMovingAverage, which it updates with the trained
/// weights after every batch. With `swap_on_epoch` it does so from the end of an epoch to the
/// beginning of the next, so that other callbacks save the averages. At the end the weights are the
/// averages of the optimizer, as `fit` leaves them, also when a callback has stopped the training
/// in the middle of an epoch, where Keras leaves the weights that are not averaged.
/// Source  tf.keras.callbacks.SwapEMAWeights
class SwapEMAWeights : public Callback {
 public:
  explicit SwapEMAWeights(EmptyBraces) {}
  explicit SwapEMAWeights(SwapEMAWeightsOptions options) : SwapEMAWeights(options.swap_on_epoch) {}
  template <std::same_as<bool> T = bool>  // so that braces are the options
  explicit SwapEMAWeights(T swap_on_epoch = false) : swap_on_epoch_(swap_on_epoch) {}
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
