#pragma once
/// Losses and metrics as compile takes them: by name, by object or by function.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
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

/// Owns a metric made on the spot; copies share it. Make it in the strategy's scope.
class CompiledMetric {
 public:
  template <PredictionMetric M>
  CompiledMetric(M metric) {
    auto owned = std::make_shared<M>(std::move(metric));
    update_ = [owned](const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) {
      owned->update_state(y_true, y_pred, weight);
    };
    metric_ = std::move(owned);
  }
  /// A metric of Keras's name, with default options: "accuracy" (binary, categorical or sparse, as
  /// the shapes of targets and predictions tell), "mse", "auc", "AUC", "mean_squared_error" and so
  /// on. Logs show it under this name.
  /// Throws  InvalidArgumentError for an unknown name.
  /// Source  tf.keras.metrics.get
  CompiledMetric(const char* name) : CompiledMetric(by_name(name)) {}
  CompiledMetric(const std::string& name) : CompiledMetric(by_name(name)) {}
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) const {
    update_(y_true, y_pred, weight);
  }
  nn::metrics::Metric& operator*() const { return *metric_; }
  nn::metrics::Metric* operator->() const { return metric_.get(); }

 private:
  static CompiledMetric by_name(const std::string& name);

  std::shared_ptr<nn::metrics::Metric> metric_;
  std::function<void(const Tensor&, const Tensor&, const Tensor&)> update_;
};

}  // namespace distribute::train
