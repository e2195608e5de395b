#pragma once
#include <distribute/optim/adam.hpp>
#include <distribute/optim/detail/update_row.hpp>

#include <cmath>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kAdamaxRows,

struct AdamaxRow {
  static constexpr int kSlots = 2;
  static constexpr bool kRoot = false;
  float rate, decay_1, beta_2, correction, epsilon;
  template <typename Slots>
  float begin(Slots slot, float g) const {
    slot[0] += (g - slot[0]) * decay_1;
    const float size = g < 0 ? -g : g;
    const float kept = beta_2 * slot[1];
    return slot[1] = kept > size ? kept : size;
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float, float largest) const {
    w -= rate * slot[0] / (correction * (largest + epsilon));
  }
};
)
// clang-format on
}  // namespace optim_internal

DISTRIBUTE_INLINE Adamax::Adamax(AdamaxOptions options)
    : Optimizer(common_options(options)),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2),
      epsilon_(options.epsilon) {}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Adamax::slots() const { return {{"m"}, {"u"}}; }

DISTRIBUTE_INLINE ElementKernel Adamax::kernel(float rate, int64_t step) const {
  using namespace optim_internal;
  return row_kernel(kAdamaxRows,
                    AdamaxRow{.rate = rate,
                              .decay_1 = float(1.0 - beta_1_),
                              .beta_2 = float(beta_2_),
                              .correction = 1.0f - std::pow(float(beta_1_), float(step)),
                              .epsilon = float(epsilon_)});
}

DISTRIBUTE_INLINE void Adamax::add_config(OptimizerConfig& config) const {
  config.set("beta_1", beta_1_);
  config.set("beta_2", beta_2_);
  config.set("epsilon", epsilon_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Adamax::from_config(const OptimizerConfig& config) {
  auto options = options_from<AdamaxOptions>(config);
  config.get("beta_1", options.beta_1);
  config.get("beta_2", options.beta_2);
  config.get("epsilon", options.epsilon);
  return std::make_unique<Adamax>(options);
}

}  // namespace distribute::optim
