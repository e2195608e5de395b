#pragma once
/// What compile() takes: losses and metrics by name, and the sum of several batches' gradients for
/// one update.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace distribute::train {

/// A loss for compile, made from a loss object, such as nn::SparseCategoricalCrossentropy, or from
/// a function (y_true, y_pred) that returns the loss of each example [batch, ...]. A function gets
/// targets and predictions with as many axes, where one of them lacks a last axis of 1. Losses are
/// averaged over the global batch unless the object's reduction is Sum.
class LossFunction {
 public:
  LossFunction() = default;
  /// Throws  InvalidArgumentError for Reduction::None.
  template <std::derived_from<nn::Loss> L>
  LossFunction(L loss) : reduction_(checked(loss.reduction())) {
    function_ = [loss = std::move(loss)](const Tensor& y_true, const Tensor& y_pred) {
      return loss.per_example(y_true, y_pred);
    };
  }
  template <std::invocable<const Tensor&, const Tensor&> F>
  requires(!std::derived_from<F, nn::Loss> && !std::same_as<F, LossFunction>)
      LossFunction(F function)
      : function_(with_equal_ranks(std::move(function))) {}

  /// Takes the name of a loss in Keras, with default options: "mse",
  /// "sparse_categorical_crossentropy", "Huber" and so on; "crossentropy" is binary, categorical or
  /// sparse, depending on the shapes of targets and predictions.
  /// Throws  InvalidArgumentError for an unknown name.
  /// Source  tf.keras.losses.get
  LossFunction(const char* name) : LossFunction(by_name(name)) {}
  LossFunction(const std::string& name) : LossFunction(by_name(name)) {}

  explicit operator bool() const { return function_ != nullptr; }
  /// Returns one replica's share: the shares of all replicas sum up to the mean over the
  /// `global_batch` examples, or to their sum. An empty batch gives 0. Further axes of a loss are
  /// averaged. If y_pred has a mask (nn::get_keras_mask), or with Reduction::MeanWithSampleWeight,
  /// each replica averages over its own part of the batch.
  /// Shapes  sample_weight as in nn::Loss.
  /// Throws  InvalidArgumentError for a loss that is one number.
  Tensor share(const Tensor& y_true, const Tensor& y_pred, int64_t global_batch,
               const Tensor& sample_weight = {}) const;

 private:
  using Function = std::function<Tensor(const Tensor&, const Tensor&)>;
  static LossFunction by_name(const std::string& name);
  static Function with_equal_ranks(Function function);
  static nn::Reduction checked(nn::Reduction reduction);

  Function function_;
  nn::Reduction reduction_ = nn::Reduction::Auto;
};

/// Whether M has update_state(y_true, y_pred, sample_weight).
template <typename M>
concept PredictionMetric = std::derived_from<M, nn::metrics::Metric> &&
    requires(M& metric, const Tensor& tensor) {
  metric.update_state(tensor, tensor, tensor);
};

/// A metric for compile; it owns the metric, and copies share it. A metric object made outside of
/// the strategy's scope is updated by all replicas of its process, one replica after the other;
/// compile refuses it if several processes train. Replicas update a metric made in the scope at the
/// same time.
class CompiledMetric {
 public:
  template <PredictionMetric M>
  CompiledMetric(M metric) : state_(std::make_shared<State>()) {
    auto owned = std::make_shared<M>(std::move(metric));
    state_->update = [owned](const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) {
      owned->update_state(y_true, y_pred, weight);
    };
    state_->metric = std::move(owned);
  }
  /// Stands for the metric that Keras gives this name, with default options: "accuracy" (binary,
  /// categorical or sparse, depending on the shapes of targets and predictions), "mse", "auc",
  /// "AUC",
  /// "mean_squared_error" and so on. Logs show it under this name. compile makes it, in the
  /// strategy's scope.
  /// Throws  InvalidArgumentError for an unknown name.
  /// Source  tf.keras.metrics.get
  CompiledMetric(const char* name) : CompiledMetric(std::string(name)) {}
  CompiledMetric(const std::string& name);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) const;
  /// Returns the metric; one given by name is made at the first call, in the current scope.
  nn::metrics::Metric& operator*() const { return *made().metric; }
  nn::metrics::Metric* operator->() const { return made().metric.get(); }
  /// Returns whether the metric has variables, and none of them belongs to a strategy.
  bool is_of_no_strategy() const;

 private:
  struct State {
    std::function<CompiledMetric()> make = {};  // makes a metric given by name
    std::shared_ptr<nn::metrics::Metric> metric = {};
    std::function<void(const Tensor&, const Tensor&, const Tensor&)> update = {};
    std::mutex replicas = {};  // guards variables of no strategy
  };
  State& made() const;

  std::shared_ptr<State> state_;
};

/// Sums each replica's gradients; replicas meet only at the update.
class GradientAccumulator {
 public:
  GradientAccumulator(int64_t steps, int local_replicas);

  /// Call it before each step, outside of replicas.
  void begin_step();
  /// Leaves this step out in place of add(), so that it does not count; call it in every replica.
  void leave_out(int local_replica);
  /// Adds this step's gradients, except empty ones; call it in a replica.
  void add(int local_replica, const std::vector<Tensor>& gradients);
  /// Returns whether this step is the last before an update.
  bool is_due() const { return step_ == steps_; }
  /// Returns the means over the steps and begins anew; call it in a replica.
  std::vector<Tensor> take(int local_replica);

  /// Returns this worker's sums and their number of steps, bit by bit, for a checkpoint.
  Tensor state() const;
  void restore(const Tensor& state);

 private:
  void take_up(int local_replica, const std::vector<Tensor>& gradients);

  int64_t steps_, step_ = 0;               // step_: number of this step, from 1
  std::vector<std::vector<Tensor>> sums_;  // by local replica
  std::vector<char> left_out_;             // whether this step is, by local replica
  std::vector<float> restored_;            // sums whose shapes are known with the next gradients
};

}  // namespace distribute::train
