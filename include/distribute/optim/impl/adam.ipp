#pragma once
#include <distribute/optim/adam.hpp>
#include <distribute/optim/detail/update_row.hpp>

#include <cmath>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kAdamRows,

struct AdamRow {
  static constexpr int kSlots = 2;
  static constexpr bool kRoot = true;
  float alpha, decay_1, decay_2, epsilon;
  template <typename Slots>
  float begin(Slots slot, float g) const {
    slot[0] += (g - slot[0]) * decay_1;
    return slot[1] += (g * g - slot[1]) * decay_2;
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float, float root) const {
    w -= slot[0] * alpha / (root + epsilon);
  }
};
struct AmsgradRow {
  static constexpr int kSlots = 3;
  static constexpr bool kRoot = true;
  float alpha, decay_1, decay_2, epsilon;
  template <typename Slots>
  float begin(Slots slot, float g) const {
    slot[0] += (g - slot[0]) * decay_1;
    slot[1] += (g * g - slot[1]) * decay_2;
    return slot[2] = slot[2] > slot[1] ? slot[2] : slot[1];
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float, float root) const {
    w -= slot[0] * alpha / (root + epsilon);
  }
};
)
// clang-format on
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

/// Computes powers and their complements in float, as Keras does.
DISTRIBUTE_INLINE ElementKernel Adam::kernel(float rate, int64_t step) const {
  using namespace optim_internal;
  const float power_1 = std::pow(float(beta_1_), float(step));
  const float power_2 = std::pow(float(beta_2_), float(step));
  const float alpha = rate * std::sqrt(1.0f - power_2) / (1.0f - power_1);
  const float decay_1 = float(1.0 - beta_1_), decay_2 = float(1.0 - beta_2_);
  const float epsilon = float(epsilon_);
  if (amsgrad_) return row_kernel(kAdamRows, AmsgradRow{alpha, decay_1, decay_2, epsilon});
  return row_kernel(kAdamRows, AdamRow{alpha, decay_1, decay_2, epsilon});
}

DISTRIBUTE_INLINE void Adam::add_config(OptimizerConfig& config) const {
  config.set("beta_1", beta_1_);
  config.set("beta_2", beta_2_);
  config.set("epsilon", epsilon_);
  config.set("amsgrad", amsgrad_);
}

namespace optim_internal {
template <typename Class, typename Options>
std::unique_ptr<Optimizer> adam_from(const OptimizerConfig& config) {
  auto options = options_from<Options>(config);
  config.get("beta_1", options.beta_1);
  config.get("beta_2", options.beta_2);
  config.get("epsilon", options.epsilon);
  config.get("amsgrad", options.amsgrad);
  return std::make_unique<Class>(options);
}
}  // namespace optim_internal

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Adam::from_config(const OptimizerConfig& config) {
  return optim_internal::adam_from<Adam, AdamOptions>(config);
}
DISTRIBUTE_INLINE std::unique_ptr<Optimizer> AdamW::from_config(const OptimizerConfig& config) {
  return optim_internal::adam_from<AdamW, AdamWOptions>(config);
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
            .clip_per_replica = o.clip_per_replica,
            .use_ema = o.use_ema,
            .ema_momentum = o.ema_momentum,
            .ema_overwrite_frequency = o.ema_overwrite_frequency,
            .name = o.name}) {}

}  // namespace distribute::optim
