#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/optim/update_rows.hpp>

namespace distribute::optim {

namespace optim_internal {

DISTRIBUTE_INLINE void sgd(float* w, const float* g, float rate, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) w[i] -= g[i] * rate;
  });
}

DISTRIBUTE_INLINE void momentum(float* w, float* v, const float* g, float rate, float factor,
                                int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      v[i] = v[i] * factor - g[i] * rate;
      w[i] += v[i];
    }
  });
}

DISTRIBUTE_INLINE void nesterov(float* w, float* v, const float* g, float rate, float factor,
                                int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      v[i] = v[i] * factor - g[i] * rate;
      w[i] += v[i] * factor - g[i] * rate;
    }
  });
}

}  // namespace optim_internal

DISTRIBUTE_INLINE SGD::SGD(SGDOptions options)
    : Optimizer(common_options(options)),
      momentum_(float(options.momentum)),
      nesterov_(options.nesterov) {
  if (options.momentum < 0 || options.momentum > 1)
    throw InvalidArgumentError(
        concat("SGD: momentum must be between 0 and 1, got ", options.momentum));
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> SGD::slots() const {
  if (momentum_ == 0.0f) return {};
  return {{"momentum"}};
}

DISTRIBUTE_INLINE Optimizer::ElementKernel SGD::kernel(float rate, int64_t) const {
  return [rate, factor = momentum_, nesterov = nesterov_](float* w, float* const* slots,
                                                          const float* g, int64_t count) {
    if (factor == 0.0f)
      optim_internal::sgd(w, g, rate, count);
    else if (nesterov)
      optim_internal::nesterov(w, slots[0], g, rate, factor, count);
    else
      optim_internal::momentum(w, slots[0], g, rate, factor, count);
  };
}

DISTRIBUTE_INLINE GpuFormula SGD::gpu_formula(float rate, int64_t) const {
  using namespace optim_internal;
  if (momentum_ == 0.0f) return gpu_formula_of(SgdRow{rate});
  if (nesterov_) return gpu_formula_of(NesterovRow{rate, momentum_});
  return gpu_formula_of(MomentumRow{rate, momentum_});
}

}  // namespace distribute::optim
