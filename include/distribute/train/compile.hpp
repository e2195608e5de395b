#pragma once
/// Losses and metrics as compile takes them: by name, by object or by function.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace distribute::train {

/// Made from a loss object, such as nn::SparseCategoricalCrossentropy, or from a function
/// (y_true, y_pred) that gives the loss of each example [batch, ...]. Losses are averaged over the
/// global batch unless the object's reduction is Sum.
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
      : function_(std::move(function)) {}

  /// A loss of Keras's name, with default options: "mse", "sparse_categorical_crossentropy",
  /// "Huber" and so on; "crossentropy" is binary, categorical or sparse, as the shapes of targets
  /// and predictions tell.
  /// Throws  InvalidArgumentError for an unknown name.
  /// Source  tf.keras.losses.get
  LossFunction(const char* name) : LossFunction(by_name(name)) {}
  LossFunction(const std::string& name) : LossFunction(by_name(name)) {}

  explicit operator bool() const { return function_ != nullptr; }
  /// One replica's share: the shares of all replicas sum up to the mean over the `global_batch`
  /// examples, or to their sum. An empty batch gives 0. Further axes of a loss are averaged. Where
  /// y_pred has a mask (nn::get_keras_mask) each replica takes the mean of what counts in its part
  /// of the batch, and so it does with Reduction::MeanWithSampleWeight.
  /// Shapes  sample_weight as in nn::Loss.
  /// Throws  InvalidArgumentError for a loss that is one number.
  Tensor share(const Tensor& y_true, const Tensor& y_pred, int64_t global_batch,
               const Tensor& sample_weight = {}) const;

 private:
  static LossFunction by_name(const std::string& name);
  static nn::Reduction checked(nn::Reduction reduction);

  std::function<Tensor(const Tensor&, const Tensor&)> function_;
  nn::Reduction reduction_ = nn::Reduction::Auto;
};

/// update_state(y_true, y_pred, sample_weight).
template <typename M>
concept PredictionMetric = std::derived_from<M, nn::metrics::Metric> &&
    requires(M& metric, const Tensor& tensor) {
  metric.update_state(tensor, tensor, tensor);
};

/// Owns a metric; copies share it. A metric object made outside of the strategy's scope counts the
/// values of all replicas of its process, one replica after the other; compile refuses it where
/// several processes train. One of the scope does not wait.
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
  /// A metric of Keras's name, with default options: "accuracy" (binary, categorical or sparse, as
  /// the shapes of targets and predictions tell), "mse", "auc", "AUC", "mean_squared_error" and so
  /// on. Logs show it under this name. compile makes it, in the strategy's scope.
  /// Throws  InvalidArgumentError for an unknown name.
  /// Source  tf.keras.metrics.get
  CompiledMetric(const char* name) : CompiledMetric(std::string(name)) {}
  CompiledMetric(const std::string& name);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) const;
  /// The metric; makes that of a name, where this has not been done, in the current scope.
  nn::metrics::Metric& operator*() const { return *made().metric; }
  nn::metrics::Metric* operator->() const { return made().metric.get(); }
  /// Whether the metric has variables, none of which belongs to a strategy.
  bool is_of_no_strategy() const;

 private:
  struct State {
    std::function<CompiledMetric()> make = {};  // of a name
    std::shared_ptr<nn::metrics::Metric> metric = {};
    std::function<void(const Tensor&, const Tensor&, const Tensor&)> update = {};
    std::mutex replicas = {};  // guards variables of no strategy
  };
  State& made() const;

  std::shared_ptr<State> state_;
};

}  // namespace distribute::train
