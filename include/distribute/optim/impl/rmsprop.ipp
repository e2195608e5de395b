#pragma once
#include <distribute/base/detail/simd_sqrt.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/optim/detail/update_rows.hpp>
#include <distribute/optim/rmsprop.hpp>

#include <algorithm>

namespace distribute::optim {

namespace optim_internal {

struct RMSpropStep {
  float rate, rho, complement, momentum, epsilon;
};

/// Moves v and, centered, the mean gradient; gives what the root is taken of.
DISTRIBUTE_INLINE void rms_moments(float* v, float* mean, const float* g, float* denominator,
                                   RMSpropStep s, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      v[i] = s.rho * v[i] + s.complement * (g[i] * g[i]);
      denominator[i] = v[i] + s.epsilon;
    }
    if (!mean) return;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      mean[i] = s.rho * mean[i] + s.complement * g[i];
      denominator[i] = v[i] - mean[i] * mean[i] + s.epsilon;
    }
  });
}

DISTRIBUTE_INLINE void rms_weights(float* w, float* momentum, const float* g, const float* root,
                                   RMSpropStep s, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
    if (!momentum) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) w[i] -= s.rate * g[i] / root[i];
      return;
    }
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      momentum[i] = s.momentum * momentum[i] + s.rate * g[i] / root[i];
      w[i] -= momentum[i];
    }
  });
}

/// `momentum` and `mean` may be null.
DISTRIBUTE_INLINE void rmsprop(float* w, float* v, float* momentum, float* mean, const float* g,
                               RMSpropStep s, int64_t count) {
  constexpr int64_t kPiece = 256;  // as in Adam
  alignas(64) float root[kPiece];
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t size = std::min(kPiece, count - i);
    rms_moments(v + i, mean ? mean + i : nullptr, g + i, root, s, size);
    simd_sqrt(root, root, size);
    rms_weights(w + i, momentum ? momentum + i : nullptr, g + i, root, s, size);
  }
}

}  // namespace optim_internal

DISTRIBUTE_INLINE RMSprop::RMSprop(RMSpropOptions options)
    : Optimizer(common_options(options)),
      rho_(options.rho),
      momentum_(options.momentum),
      epsilon_(options.epsilon),
      centered_(options.centered) {}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> RMSprop::slots() const {
  std::vector<Slot> all{{"rms"}};
  if (momentum_ > 0) all.push_back({"momentum"});
  if (centered_) all.push_back({"mg"});
  return all;
}

DISTRIBUTE_INLINE GpuFormula RMSprop::gpu_formula(float rate, int64_t) const {
  return optim_internal::gpu_formula_of(optim_internal::RmspropRow{
      rate, float(rho_), float(1.0 - rho_), float(momentum_), float(epsilon_),
      momentum_ > 0 ? 1.0f : 0.0f, centered_ ? 1.0f : 0.0f});
}

DISTRIBUTE_INLINE Optimizer::ElementKernel RMSprop::kernel(float rate, int64_t) const {
  const optim_internal::RMSpropStep s{rate, float(rho_), float(1.0 - rho_), float(momentum_),
                                      float(epsilon_)};
  return [s, momentum = momentum_ > 0, centered = centered_](float* w, float* const* slots,
                                                             const float* g, int64_t count) {
    float* sums = momentum ? slots[1] : nullptr;
    float* mean = centered ? slots[momentum ? 2 : 1] : nullptr;
    optim_internal::rmsprop(w, slots[0], sums, mean, g, s, count);
  };
}

DISTRIBUTE_INLINE void RMSprop::add_config(OptimizerConfig& config) const {
  config.set("rho", rho_);
  config.set("momentum", momentum_);
  config.set("epsilon", epsilon_);
  config.set("centered", centered_);
}

}  // namespace distribute::optim
