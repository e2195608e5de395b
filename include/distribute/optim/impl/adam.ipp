#pragma once
#include <distribute/base/detail/simd_sqrt.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/detail/update_rows.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::optim {

namespace optim_internal {

struct AdamStep {
  float alpha, decay_1, decay_2, epsilon;
};

inline constexpr int64_t kAdamPiece = 256;  // elements whose square roots fit beside them in L1

DISTRIBUTE_INLINE void adam_moments(float* m, float* v, const float* g, AdamStep s, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      m[i] += (g[i] - m[i]) * s.decay_1;
      v[i] += (g[i] * g[i] - v[i]) * s.decay_2;
    }
  });
}

DISTRIBUTE_INLINE void adam_weights(float* w, const float* m, const float* root, AdamStep s,
                                    int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) w[i] -= m[i] * s.alpha / (root[i] + s.epsilon);
  });
}

DISTRIBUTE_INLINE void keep_maximum(float* highest, const float* v, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) highest[i] = highest[i] > v[i] ? highest[i] : v[i];
  });
}

/// `highest` is null without amsgrad.
DISTRIBUTE_INLINE void adam(float* w, float* m, float* v, float* highest, const float* g,
                            AdamStep s, int64_t count) {
  alignas(64) float root[kAdamPiece];
  for (int64_t i = 0; i < count; i += kAdamPiece) {
    const int64_t size = std::min(kAdamPiece, count - i);
    adam_moments(m + i, v + i, g + i, s, size);
    if (highest) keep_maximum(highest + i, v + i, size);
    simd_sqrt((highest ? highest : v) + i, root, size);
    adam_weights(w + i, m + i, root, s, size);
  }
}

}  // namespace optim_internal

DISTRIBUTE_INLINE Adam::Adam(AdamOptions options)
    : Optimizer(common_options(options)),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2),
      epsilon_(options.epsilon),
      amsgrad_(options.amsgrad) {}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Adam::slots() const {
  if (amsgrad_) return {{"m"}, {"v"}, {"vhat"}};
  return {{"m"}, {"v"}};
}

namespace optim_internal {
/// Powers and their complements in float, as Keras computes them.
DISTRIBUTE_INLINE AdamStep adam_step(float rate, double beta_1, double beta_2, double epsilon,
                                     int64_t step) {
  const float power_1 = std::pow(float(beta_1), float(step));
  const float power_2 = std::pow(float(beta_2), float(step));
  return {rate * std::sqrt(1.0f - power_2) / (1.0f - power_1), float(1.0 - beta_1),
          float(1.0 - beta_2), float(epsilon)};
}
}  // namespace optim_internal

DISTRIBUTE_INLINE GpuFormula Adam::gpu_formula(float rate, int64_t step) const {
  using namespace optim_internal;
  const AdamStep s = adam_step(rate, beta_1_, beta_2_, epsilon_, step);
  if (amsgrad_) return gpu_formula_of(AmsgradRow{s.alpha, s.decay_1, s.decay_2, s.epsilon});
  return gpu_formula_of(AdamRow{s.alpha, s.decay_1, s.decay_2, s.epsilon});
}

DISTRIBUTE_INLINE Optimizer::ElementKernel Adam::kernel(float rate, int64_t step) const {
  const auto s = optim_internal::adam_step(rate, beta_1_, beta_2_, epsilon_, step);
  return [s, amsgrad = amsgrad_](float* w, float* const* slots, const float* g, int64_t count) {
    optim_internal::adam(w, slots[0], slots[1], amsgrad ? slots[2] : nullptr, g, s, count);
  };
}

DISTRIBUTE_INLINE void Adam::add_config(OptimizerConfig& config) const {
  config.set("beta_1", beta_1_);
  config.set("beta_2", beta_2_);
  config.set("epsilon", epsilon_);
  config.set("amsgrad", amsgrad_);
}

DISTRIBUTE_INLINE AdamW::AdamW(AdamWOptions o)
    : Adam({.learning_rate = o.learning_rate,
            .beta_1 = o.beta_1,
            .beta_2 = o.beta_2,
            .epsilon = o.epsilon,
            .amsgrad = o.amsgrad,
            .weight_decay = o.weight_decay,
            .clipnorm = o.clipnorm,
            .clipvalue = o.clipvalue,
            .global_clipnorm = o.global_clipnorm,
            .use_ema = o.use_ema,
            .ema_momentum = o.ema_momentum,
            .ema_overwrite_frequency = o.ema_overwrite_frequency,
            .name = o.name}) {}

}  // namespace distribute::optim
