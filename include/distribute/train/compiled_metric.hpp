#pragma once
/// A metric of targets and predictions, as a model is compiled with.

#include <distribute/base/config.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace distribute::train {

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
