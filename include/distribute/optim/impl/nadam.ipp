#pragma once
#include <distribute/optim/adam.hpp>
#include <distribute/optim/detail/update_row.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kNadamRows,

struct NadamRow {
  static constexpr int kSlots = 2;
  static constexpr bool kRoot = true;
  float rate, of_momentum, of_gradient, decay_1, decay_2, correction, epsilon;
  template <typename Slots>
  float begin(Slots slot, float g) const {
    slot[0] += (g - slot[0]) * decay_1;
    slot[1] += (g * g - slot[1]) * decay_2;
    return slot[1] / correction;
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float g, float root) const {
    w -= (of_momentum * slot[0] + of_gradient * g) * rate / (root + epsilon);
  }
};
)
// clang-format on
}  // namespace optim_internal

DISTRIBUTE_INLINE Nadam::Nadam(NadamOptions options)
    : Optimizer(common_options(options)),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2),
      epsilon_(options.epsilon) {}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Nadam::slots() const { return {{"m"}, {"v"}}; }

namespace optim_internal {

/// Gives the momentum of step `step` (the first is 1).
DISTRIBUTE_INLINE float nadam_momentum(float beta_1, int64_t step) {
  return beta_1 * (1.0f - 0.5f * std::pow(0.96f, float(step)));
}

/// Gives the product of the momenta of all steps up to this one. From step 500 on the factor 1 -
/// 0.96^t/2 is 1 in float.
DISTRIBUTE_INLINE float nadam_product(float beta_1, int64_t step) {
  constexpr int64_t kLastFactor = 500;
  float product = 1.0f;
  for (int64_t t = 1; t <= std::min(step, kLastFactor); ++t) product *= nadam_momentum(beta_1, t);
  return step > kLastFactor ? product * std::pow(beta_1, float(step - kLastFactor)) : product;
}

}  // namespace optim_internal

DISTRIBUTE_INLINE float Nadam::momentum_product() const {
  return optim_internal::nadam_product(float(beta_1_), iterations());
}

DISTRIBUTE_INLINE ElementKernel Nadam::kernel(float rate, int64_t step) const {
  using namespace optim_internal;
  const float beta_1 = float(beta_1_);
  const float now = nadam_momentum(beta_1, step), next = nadam_momentum(beta_1, step + 1);
  const float product = nadam_product(beta_1, step);
  return row_kernel(kNadamRows, NadamRow{.rate = rate,
                                         .of_momentum = next / (1.0f - product * next),
                                         .of_gradient = (1.0f - now) / (1.0f - product),
                                         .decay_1 = float(1.0 - beta_1_),
                                         .decay_2 = float(1.0 - beta_2_),
                                         .correction = 1.0f - std::pow(float(beta_2_), float(step)),
                                         .epsilon = float(epsilon_)});
}

DISTRIBUTE_INLINE void Nadam::add_config(OptimizerConfig& config) const {
  config.set("beta_1", beta_1_);
  config.set("beta_2", beta_2_);
  config.set("epsilon", epsilon_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Nadam::from_config(const OptimizerConfig& config) {
  auto options = options_from<NadamOptions>(config);
  config.get("beta_1", options.beta_1);
  config.get("beta_2", options.beta_2);
  config.get("epsilon", options.epsilon);
  return std::make_unique<Nadam>(options);
}

}  // namespace distribute::optim
