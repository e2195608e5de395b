#pragma once
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/detail/update_row.hpp>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kRmspropRows,

template <bool kMomentum, bool kCentered>
struct RmspropRow {
  static constexpr int kSlots = 1 + kMomentum + kCentered;
  static constexpr bool kRoot = true;
  float rate, rho, complement, momentum, epsilon;
  template <typename Slots>
  float begin(Slots slot, float g) const {
    slot[0] = rho * slot[0] + complement * (g * g);
    if constexpr (!kCentered) return slot[0] + epsilon;
    float& mean = slot[1 + kMomentum];
    mean = rho * mean + complement * g;
    return slot[0] - mean * mean + epsilon;
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float g, float root) const {
    float step = rate * g / root;
    if constexpr (kMomentum) step = slot[1] = momentum * slot[1] + step;
    w -= step;
  }
};
)
// clang-format on
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

DISTRIBUTE_INLINE ElementKernel RMSprop::kernel(float rate, int64_t) const {
  using namespace optim_internal;
  const auto of = [&]<bool kMomentum, bool kCentered>() {
    return row_kernel(kRmspropRows,
                      RmspropRow<kMomentum, kCentered>{rate, float(rho_), float(1.0 - rho_),
                                                       float(momentum_), float(epsilon_)});
  };
  if (momentum_ > 0) return centered_ ? of.operator()<true, true>() : of.operator()<true, false>();
  return centered_ ? of.operator()<false, true>() : of.operator()<false, false>();
}

DISTRIBUTE_INLINE void RMSprop::add_config(OptimizerConfig& config) const {
  config.set("rho", rho_);
  config.set("momentum", momentum_);
  config.set("epsilon", epsilon_);
  config.set("centered", centered_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> RMSprop::from_config(const OptimizerConfig& config) {
  auto options = options_from<RMSpropOptions>(config);
  config.get("rho", options.rho);
  config.get("momentum", options.momentum);
  config.get("epsilon", options.epsilon);
  config.get("centered", options.centered);
  return std::make_unique<RMSprop>(options);
}

}  // namespace distribute::optim
