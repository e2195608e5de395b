#pragma once
#include <distribute/base/error.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/detail/update_row.hpp>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kAdagradRows,

struct AdagradRow {
  static constexpr int kSlots = 1;
  static constexpr bool kRoot = true;
  float rate, epsilon;
  template <typename Slots>
  float begin(Slots slot, float g) const { return (slot[0] += g * g) + epsilon; }
  template <typename Slots>
  void finish(float& w, Slots, float g, float root) const { w -= rate * g / root; }
};
)
// clang-format on
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

DISTRIBUTE_INLINE ElementKernel Adagrad::kernel(float rate, int64_t) const {
  using namespace optim_internal;
  return row_kernel(kAdagradRows, AdagradRow{rate, float(epsilon_)});
}

DISTRIBUTE_INLINE void Adagrad::add_config(OptimizerConfig& config) const {
  config.set("initial_accumulator_value", initial_);
  config.set("epsilon", epsilon_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Adagrad::from_config(const OptimizerConfig& config) {
  auto options = options_from<AdagradOptions>(config);
  config.get("initial_accumulator_value", options.initial_accumulator_value);
  config.get("epsilon", options.epsilon);
  return std::make_unique<Adagrad>(options);
}

}  // namespace distribute::optim
