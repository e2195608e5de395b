#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/train/gradient_accumulator.hpp>

#include <memory>

namespace distribute::train {

DISTRIBUTE_INLINE GradientAccumulator::GradientAccumulator(int64_t steps,
                                                           const std::vector<Variable>& variables)
    : steps_(steps),
      done_(std::make_shared<PlainVariable>(
          Tensor(int64_t{0}), VariableOptions{.name = "accumulated_steps", .trainable = false})) {
  for (const Variable& variable : variables)
    sums_.emplace_back([shape = variable.shape()] { return zeros(shape); },
                       VariableOptions{.name = "gradient_sum/" + variable.name(),
                                       .trainable = false,
                                       .synchronization = VariableSynchronization::OnRead,
                                       .aggregation = VariableAggregation::Sum});
}

DISTRIBUTE_INLINE void GradientAccumulator::begin_step() {
  const int64_t done = done_.impl().read().item<int64_t>();
  step_ = done % steps_ + 1;
  done_.assign(Tensor(step_));
}

DISTRIBUTE_INLINE void GradientAccumulator::add(const std::vector<Tensor>& gradients) const {
  if (gradients.size() != sums_.size())
    throw InvalidArgumentError(concat("gradient accumulation: ", gradients.size(),
                                      " gradients for ", sums_.size(), " variables"));
  for (size_t i = 0; i < sums_.size(); ++i)
    if (gradients[i]) sums_[i].assign_add(gradients[i]);
}

DISTRIBUTE_INLINE std::vector<Tensor> GradientAccumulator::take(
    const std::vector<Tensor>& gradients) const {
  std::vector<Tensor> means;
  for (size_t i = 0; i < sums_.size(); ++i) {
    means.push_back(gradients[i] ? sums_[i].value() / float(steps_) : Tensor());
    sums_[i].assign(zeros(sums_[i].shape()));
  }
  return means;
}

DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> GradientAccumulator::own_variables() const {
  std::vector<NamedVariable> own{{"accumulated_steps", done_}};
  for (const Variable& sum : sums_) own.push_back({sum.name(), sum});
  return own;
}

}  // namespace distribute::train
