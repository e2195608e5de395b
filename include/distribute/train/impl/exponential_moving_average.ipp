#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/train/exponential_moving_average.hpp>

#include <algorithm>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE ExponentialMovingAverage::ExponentialMovingAverage(
    ExponentialMovingAverageOptions options)
    : options_(std::move(options)) {
  if (!(options_.decay >= 0 && options_.decay < 1))
    throw InvalidArgumentError(
        str_cat("ExponentialMovingAverage: decay must be in [0, 1); it is ", options_.decay));
}

DISTRIBUTE_INLINE const ExponentialMovingAverage::Pair* ExponentialMovingAverage::find(
    const Variable& variable) const {
  for (const Pair& pair : pairs_)
    if (pair.variable == variable) return &pair;
  return nullptr;
}

DISTRIBUTE_INLINE Variable ExponentialMovingAverage::average(const Variable& variable) const {
  const Pair* pair = find(variable);
  return pair ? pair->average : Variable();
}

DISTRIBUTE_INLINE std::string ExponentialMovingAverage::average_name(
    const Variable& variable) const {
  return variable.name() + "/" + options_.name;
}

/// Makes the average; a checkpoint that was restored before may have its value.
DISTRIBUTE_INLINE void ExponentialMovingAverage::track(const Variable& variable) {
  const Tensor value = value_to_save(variable);
  Variable average([&] { return value; }, {.name = average_name(variable), .trainable = false});
  pairs_.push_back({variable, average});
  restore_created(average.name(), average);
}

DISTRIBUTE_INLINE void ExponentialMovingAverage::build(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables)
    if (!find(variable)) track(variable);
}

DISTRIBUTE_INLINE void ExponentialMovingAverage::apply(const std::vector<Variable>& variables) {
  double decay = options_.decay;
  if (options_.num_updates) {
    const double n = double(options_.num_updates());
    decay = std::min(decay, (1 + n) / (10 + n));
  }
  build(variables);
  for (const Variable& variable : variables) {
    const Variable average = find(variable)->average;
    const Tensor before = value_to_save(average);
    restore_value(average, before - (before - value_to_save(variable)) * float(1 - decay));
  }
}

DISTRIBUTE_INLINE void ExponentialMovingAverage::swap() {
  for (const Pair& pair : pairs_) {
    const Tensor value = value_to_save(pair.variable);
    restore_value(pair.variable, value_to_save(pair.average));
    restore_value(pair.average, value);
  }
}

DISTRIBUTE_INLINE ExponentialMovingAverage::AveragedWeights::~AveragedWeights() {
  try {
    ema_.swap();
  } catch (const std::exception& error) {
    log_error("train", str_cat("the weights keep their averages: ", error.what()));
  }
}

DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> ExponentialMovingAverage::own_variables()
    const {
  std::vector<NamedVariable> own;
  for (const Pair& pair : pairs_) own.push_back({pair.average.name(), pair.average});
  return own;
}

}  // namespace distribute::train
