#pragma once
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/detail/update_row.hpp>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kAdadeltaRows,

struct AdadeltaRow {
  static constexpr int kSlots = 2;
  static constexpr bool kRoot = true;
  float rate, rho, complement, epsilon;
  template <typename Slots>
  float begin(Slots slot, float g) const {
    slot[0] = rho * slot[0] + complement * (g * g);
    return (slot[1] + epsilon) / (slot[0] + epsilon);
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float g, float root) const {
    const float step = root * g;
    slot[1] = rho * slot[1] + complement * (step * step);
    w -= rate * step;
  }
};
)
// clang-format on
}  // namespace optim_internal

DISTRIBUTE_INLINE Adadelta::Adadelta(AdadeltaOptions options)
    : Optimizer(common_options(options)), rho_(options.rho), epsilon_(options.epsilon) {}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Adadelta::slots() const {
  return {{"accum_grad"}, {"accum_var"}};
}

DISTRIBUTE_INLINE ElementKernel Adadelta::kernel(float rate, int64_t) const {
  using namespace optim_internal;
  return row_kernel(kAdadeltaRows,
                    AdadeltaRow{rate, float(rho_), float(1.0 - rho_), float(epsilon_)});
}

DISTRIBUTE_INLINE void Adadelta::add_config(OptimizerConfig& config) const {
  config.set("rho", rho_);
  config.set("epsilon", epsilon_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Adadelta::from_config(const OptimizerConfig& config) {
  auto options = options_from<AdadeltaOptions>(config);
  config.get("rho", options.rho);
  config.get("epsilon", options.epsilon);
  return std::make_unique<Adadelta>(options);
}

}  // namespace distribute::optim
