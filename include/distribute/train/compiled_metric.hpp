#pragma once
/// A metric of targets and predictions, as a model is compiled with.

#include <distribute/base/config.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <functional>
#include <memory>
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
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) const {
    update_(y_true, y_pred, weight);
  }
  nn::metrics::Metric& operator*() const { return *metric_; }
  nn::metrics::Metric* operator->() const { return metric_.get(); }

 private:
  std::shared_ptr<nn::metrics::Metric> metric_;
  std::function<void(const Tensor&, const Tensor&, const Tensor&)> update_;
};

}  // namespace distribute::train
