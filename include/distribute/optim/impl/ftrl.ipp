#pragma once
#include <distribute/base/error.hpp>
#include <distribute/optim/detail/update_row.hpp>
#include <distribute/optim/lamb.hpp>

#include <cmath>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kFtrlRows,

struct FtrlRow {
  static constexpr int kSlots = 2;
  static constexpr bool kRoot = false;
  float rate, power, l1, twice_l2, twice_shrinkage;
  template <typename Slots>
  float begin(Slots, float) const {
    return 0;
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float g, float) const {
    const float before = powf(slot[0], power);
    slot[0] += g * g;
    const float after = powf(slot[0], power);
    slot[1] += g + twice_shrinkage * w - (after - before) / rate * w;
    const float z = slot[1];
    const float clipped = z < -l1 ? -l1 : z > l1 ? l1 : z;
    w = (clipped - z) / (after / rate + twice_l2);
  }
};
)
// clang-format on
}  // namespace optim_internal

DISTRIBUTE_INLINE Ftrl::Ftrl(FtrlOptions options)
    : Optimizer(common_options(options)),
      learning_rate_power_(options.learning_rate_power),
      initial_accumulator_value_(options.initial_accumulator_value),
      l1_regularization_strength_(options.l1_regularization_strength),
      l2_regularization_strength_(options.l2_regularization_strength),
      l2_shrinkage_regularization_strength_(options.l2_shrinkage_regularization_strength),
      beta_(options.beta) {
  const auto check = [](const char* name, double value) {
    if (value < 0)
      throw InvalidArgumentError(str_cat("Ftrl: ", name, " must not be negative, got ", value));
  };
  check("initial_accumulator_value", initial_accumulator_value_);
  check("l1_regularization_strength", l1_regularization_strength_);
  check("l2_regularization_strength", l2_regularization_strength_);
  check("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength_);
  if (learning_rate_power_ > 0)
    throw InvalidArgumentError(
        str_cat("Ftrl: learning_rate_power must not be positive, got ", learning_rate_power_));
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Ftrl::slots() const {
  return {{"accumulator", float(initial_accumulator_value_)}, {"linear"}};
}

DISTRIBUTE_INLINE ElementKernel Ftrl::kernel(float rate, int64_t) const {
  using namespace optim_internal;
  const double l2 = l2_regularization_strength_ + beta_ / (2.0 * double(rate));
  return row_kernel(kFtrlRows,
                    FtrlRow{.rate = rate,
                            .power = float(-learning_rate_power_),
                            .l1 = float(l1_regularization_strength_),
                            .twice_l2 = float(2.0 * l2),
                            .twice_shrinkage = float(2.0 * l2_shrinkage_regularization_strength_)});
}

DISTRIBUTE_INLINE void Ftrl::add_config(OptimizerConfig& config) const {
  config.set("learning_rate_power", learning_rate_power_);
  config.set("initial_accumulator_value", initial_accumulator_value_);
  config.set("l1_regularization_strength", l1_regularization_strength_);
  config.set("l2_regularization_strength", l2_regularization_strength_);
  config.set("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength_);
  config.set("beta", beta_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Ftrl::from_config(const OptimizerConfig& config) {
  auto options = options_from<FtrlOptions>(config);
  config.get("learning_rate_power", options.learning_rate_power);
  config.get("initial_accumulator_value", options.initial_accumulator_value);
  config.get("l1_regularization_strength", options.l1_regularization_strength);
  config.get("l2_regularization_strength", options.l2_regularization_strength);
  config.get("l2_shrinkage_regularization_strength", options.l2_shrinkage_regularization_strength);
  config.get("beta", options.beta);
  return std::make_unique<Ftrl>(options);
}

}  // namespace distribute::optim
