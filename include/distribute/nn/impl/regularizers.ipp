#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <algorithm>

namespace distribute::nn {

namespace nn_internal {

/// Sum of squares over the block as it lies, in any layout: padding is zero.
DISTRIBUTE_INLINE Tensor sum_of_squares(const Tensor& x) {
  if (x.dtype() != DType::Float32)
    throw InvalidArgumentError(
        str_cat("regularizers take float32 weights, got ", name_of(x.dtype())));
  if (is_gpu(x.device())) return reduce_sum(square(x));
  const float* values = x.array().data<float>();
  const int64_t count =
      x.layout() ? x.layout()->bytes() / int64_t(sizeof(float)) : x.num_elements();
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += 1024) {
    const int64_t end = std::min(count, begin + 1024);
    float part = 0;
    simd_call([&]() DISTRIBUTE_ALWAYS_INLINE {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t i = begin; i < end; ++i) sum += values[i] * values[i];
      part = sum;
    });
    total += part;
  }
  return record("sum_of_squares", {x}, Tensor(float(total)),
                [x](const Backward& b) -> std::vector<Tensor> {
                  return {multiply(x, multiply(b.gradient(), Tensor(2.0f)))};
                });
}

DISTRIBUTE_INLINE std::vector<Tensor> penalties(const Regularizer& on_kernel,
                                                const Variable& kernel, const Regularizer& on_bias,
                                                const Variable& bias) {
  std::vector<Tensor> terms;
  if (on_kernel && kernel) terms.push_back(on_kernel(kernel.value()));
  if (on_bias && bias) terms.push_back(on_bias(bias.value()));
  return terms;
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor Regularizer::operator()(const Tensor& weight) const {
  if (!(l1 >= 0 && l2 >= 0))
    throw InvalidArgumentError(
        str_cat("regularizer: l1 is ", l1, " and l2 ", l2, ", wanted at least 0"));
  Tensor penalty;
  if (l2 != 0) penalty = multiply(nn_internal::sum_of_squares(weight), Tensor(float(l2)));
  if (l1 == 0) return penalty ? penalty : Tensor(0.0f);
  const Tensor absolute = multiply(reduce_sum(abs(weight)), Tensor(float(l1)));
  return penalty ? add(penalty, absolute) : absolute;
}

}  // namespace distribute::nn
