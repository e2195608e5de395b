#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE Tensor fitted_weight(const Tensor& weight, const Tensor& values,
                                       const char* what) {
  const Tensor typed = cast(weight, values.dtype());
  Shape shape = weight.shape();
  if (shape.rank() == 0) return typed;
  const Shape& wanted = values.shape();
  const bool one_more = shape.rank() == wanted.rank() + 1 && shape[-1] == 1;
  if (one_more) shape = Shape(shape.dims().first(size_t(wanted.rank())));
  bool fits = shape.rank() <= wanted.rank();
  for (int i = 0; fits && i < shape.rank(); ++i) fits = shape[i] == wanted[i] || shape[i] == 1;
  if (!fits)
    throw InvalidArgumentError(str_cat(what, " of shape ", to_string(weight.shape()),
                                       " does not fit values of shape ", to_string(wanted),
                                       ": its axes are the first ones of the values, each of the "
                                       "same size or 1"));
  while (shape.rank() < wanted.rank()) shape.push_back(1);
  return reshape(typed, shape);
}

DISTRIBUTE_INLINE Tensor masked_weight(const Tensor& weight, const Tensor& mask,
                                       const Tensor& values) {
  const Tensor fitted = weight ? fitted_weight(weight, values) : Tensor();
  if (!mask) return fitted;
  const Tensor counts = fitted_weight(mask, values, "the mask of the predictions,");
  return fitted ? fitted * counts : counts;
}

DISTRIBUTE_INLINE Tensor mask_of_losses(const Tensor& losses, const Tensor& y_pred) {
  const Tensor given = get_keras_mask(y_pred), own = get_keras_mask(losses);
  if (!given || !own) return given ? given : own;
  return logical_and(cast(given, DType::Bool), cast(own, DType::Bool));
}

/// A mean over all values becomes one over those that the mask lets count; 0 where it lets none.
DISTRIBUTE_INLINE Tensor mean_of_counted(const Tensor& mean, const Tensor& mask) {
  const Tensor counted = reduce_sum(cast(mask, DType::Float32));
  const Tensor all = scalar_like(counted, double(mask.num_elements()));
  return mean * cast(divide_no_nan(all, counted), mean.dtype());
}

DISTRIBUTE_INLINE Tensor reduce_weighted_values(const Tensor& values, const Tensor& weight,
                                                const Tensor& mask, Reduction reduction,
                                                std::optional<double> count) {
  const Tensor applied = masked_weight(weight, mask, values);
  const Tensor weighted = applied ? values * applied : values;
  if (reduction == Reduction::None || values.shape().rank() == 0) return weighted;
  const Tensor sum = reduce_sum(weighted);
  if (reduction == Reduction::Sum) return sum;
  const double elements = double(std::max<int64_t>(values.num_elements(), 1));
  const double divisor = std::max(count.value_or(elements), 1.0);
  if (reduction == Reduction::MeanWithSampleWeight && applied)
    return divide_no_nan(sum, reduce_sum(applied) * float(divisor / elements));
  const Tensor mean = sum / float(divisor);
  return mask ? mean_of_counted(mean, mask) : mean;
}

}  // namespace distribute::nn::nn_internal
