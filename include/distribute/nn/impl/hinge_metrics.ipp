#pragma once
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/regression_losses.hpp>

#include <utility>

namespace distribute::nn::metrics {

DISTRIBUTE_INLINE Hinge::Hinge(std::string name)
    : MeanMetricWrapper(hinge, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE SquaredHinge::SquaredHinge(std::string name)
    : MeanMetricWrapper(squared_hinge, std::move(name), Direction::Down) {}
DISTRIBUTE_INLINE CategoricalHinge::CategoricalHinge(std::string name)
    : MeanMetricWrapper(categorical_hinge, std::move(name), Direction::Down) {}

}  // namespace distribute::nn::metrics
