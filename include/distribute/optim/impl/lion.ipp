#pragma once
#include <distribute/base/error.hpp>
#include <distribute/optim/detail/update_row.hpp>
#include <distribute/optim/lamb.hpp>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kLionRows,

struct LionRow {
  static constexpr int kSlots = 1;
  static constexpr bool kRoot = false;
  float rate, beta_1, complement_1, beta_2, complement_2;
  template <typename Slots>
  float begin(Slots slot, float g) const {
    const float direction = slot[0] * beta_1 + g * complement_1;
    slot[0] = slot[0] * beta_2 + g * complement_2;
    return direction;
  }
  template <typename Slots>
  void finish(float& w, Slots, float, float direction) const {
    w -= rate * (float(direction > 0) - float(direction < 0));
  }
};
)
// clang-format on
}  // namespace optim_internal

DISTRIBUTE_INLINE Lion::Lion(LionOptions options)
    : Optimizer(common_options(options)), beta_1_(options.beta_1), beta_2_(options.beta_2) {
  if (beta_1_ <= 0 || beta_1_ > 1)
    throw InvalidArgumentError(str_cat("Lion: beta_1 must lie in (0, 1], got ", beta_1_));
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Lion::slots() const { return {{"m"}}; }

DISTRIBUTE_INLINE ElementKernel Lion::kernel(float rate, int64_t) const {
  using namespace optim_internal;
  return row_kernel(kLionRows, LionRow{rate, float(beta_1_), float(1.0 - beta_1_), float(beta_2_),
                                       float(1.0 - beta_2_)});
}

DISTRIBUTE_INLINE void Lion::add_config(OptimizerConfig& config) const {
  config.set("beta_1", beta_1_);
  config.set("beta_2", beta_2_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Lion::from_config(const OptimizerConfig& config) {
  auto options = options_from<LionOptions>(config);
  config.get("beta_1", options.beta_1);
  config.get("beta_2", options.beta_2);
  return std::make_unique<Lion>(options);
}

}  // namespace distribute::optim
