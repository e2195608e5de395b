#pragma once
#include <distribute/base/detail/simd_sqrt.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/detail/update_rows.hpp>

#include <algorithm>

namespace distribute::optim {

namespace optim_internal {

DISTRIBUTE_INLINE void adagrad_sums(float* a, const float* g, float* sum, float epsilon,
                                    int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      a[i] += g[i] * g[i];
      sum[i] = a[i] + epsilon;
    }
  });
}

DISTRIBUTE_INLINE void adagrad_weights(float* w, const float* g, const float* root, float rate,
                                       int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) w[i] -= rate * g[i] / root[i];
  });
}

DISTRIBUTE_INLINE void adagrad(float* w, float* a, const float* g, float rate, float epsilon,
                               int64_t count) {
  constexpr int64_t kPiece = 256;  // as in Adam
  alignas(64) float root[kPiece];
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t size = std::min(kPiece, count - i);
    adagrad_sums(a + i, g + i, root, epsilon, size);
    simd_sqrt(root, root, size);
    adagrad_weights(w + i, g + i, root, rate, size);
  }
}

}  // namespace optim_internal

DISTRIBUTE_INLINE Adagrad::Adagrad(AdagradOptions options)
    : Optimizer(common_options(options)),
      initial_(options.initial_accumulator_value),
      epsilon_(options.epsilon) {
  if (initial_ < 0)
    throw InvalidArgumentError(
        str_cat("Adagrad: initial_accumulator_value must not be negative, got ", initial_));
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Adagrad::slots() const {
  return {{"accumulator", float(initial_)}};
}

DISTRIBUTE_INLINE GpuFormula Adagrad::gpu_formula(float rate, int64_t) const {
  return optim_internal::gpu_formula_of(optim_internal::AdagradRow{rate, float(epsilon_)});
}

DISTRIBUTE_INLINE Optimizer::ElementKernel Adagrad::kernel(float rate, int64_t) const {
  return [rate, epsilon = float(epsilon_)](float* w, float* const* slots, const float* g,
                                           int64_t count) {
    optim_internal::adagrad(w, slots[0], g, rate, epsilon, count);
  };
}

DISTRIBUTE_INLINE void Adagrad::add_config(OptimizerConfig& config) const {
  config.set("initial_accumulator_value", initial_);
  config.set("epsilon", epsilon_);
}

}  // namespace distribute::optim
