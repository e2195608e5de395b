#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/optim/detail/update_rows.hpp>
#include <distribute/optim/sgd.hpp>

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
    : Optimizer(common_options(options)), momentum_(options.momentum), nesterov_(options.nesterov) {
  if (options.momentum < 0 || options.momentum > 1)
    throw InvalidArgumentError(
        str_cat("SGD: momentum must be between 0 and 1, got ", options.momentum));
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> SGD::slots() const {
  if (momentum_ == 0.0) return {};
  return {{"momentum"}};
}

DISTRIBUTE_INLINE Optimizer::ElementKernel SGD::kernel(float rate, int64_t) const {
  return [rate, factor = float(momentum_), nesterov = nesterov_](float* w, float* const* slots,
                                                                 const float* g, int64_t count) {
    if (factor == 0.0f)
      optim_internal::sgd(w, g, rate, count);
    else if (nesterov)
      optim_internal::nesterov(w, slots[0], g, rate, factor, count);
    else
      optim_internal::momentum(w, slots[0], g, rate, factor, count);
  };
}

DISTRIBUTE_INLINE void SGD::add_config(OptimizerConfig& config) const {
  config.set("momentum", momentum_);
  config.set("nesterov", nesterov_);
}

DISTRIBUTE_INLINE GpuFormula SGD::gpu_formula(float rate, int64_t) const {
  using namespace optim_internal;
  const float factor = float(momentum_);
  if (factor == 0.0f) return gpu_formula_of(SgdRow{rate});
  if (nesterov_) return gpu_formula_of(NesterovRow{rate, factor});
  return gpu_formula_of(MomentumRow{rate, factor});
}

}  // namespace distribute::optim
