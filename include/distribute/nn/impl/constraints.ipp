#pragma once
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <utility>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor Constraint::operator()(const Tensor& w) const {
  if (kind == Kind::None) return w;
  if (kind == Kind::NonNeg) return w * cast(greater_equal(w, scalar_like(w, 0)), w.dtype());
  const Tensor length = sqrt(reduce_sum(square(w), axis, true));
  const Tensor divisor = length + nn_internal::kEpsilon;
  if (kind == Kind::UnitNorm) return w / divisor;
  const double least = kind == Kind::MinMaxNorm ? min_value : 0;
  const Tensor limited = clip_by_value(length, float(least), float(max_value));
  const Tensor wanted =
      kind == Kind::MinMaxNorm ? limited * float(rate) + length * float(1 - rate) : limited;
  return w * (wanted / divisor);
}

namespace constraints {

DISTRIBUTE_INLINE Constraint max_norm(double max_value, std::vector<int> axis) {
  return {.kind = Constraint::Kind::MaxNorm, .max_value = max_value, .axis = std::move(axis)};
}
DISTRIBUTE_INLINE Constraint non_neg() { return {.kind = Constraint::Kind::NonNeg}; }
DISTRIBUTE_INLINE Constraint unit_norm(std::vector<int> axis) {
  return {.kind = Constraint::Kind::UnitNorm, .axis = std::move(axis)};
}
DISTRIBUTE_INLINE Constraint min_max_norm(double min_value, double max_value, double rate,
                                          std::vector<int> axis) {
  return {.kind = Constraint::Kind::MinMaxNorm,
          .min_value = min_value,
          .max_value = max_value,
          .rate = rate,
          .axis = std::move(axis)};
}

}  // namespace constraints

namespace nn_internal {

DISTRIBUTE_INLINE VariableOptions constrained(const Constraint& constraint) {
  VariableOptions options;
  if (constraint) options.constraint = constraint;
  return options;
}

}  // namespace nn_internal

}  // namespace distribute::nn
