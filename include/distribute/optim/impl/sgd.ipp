#pragma once
#include <distribute/base/error.hpp>
#include <distribute/optim/detail/update_row.hpp>
#include <distribute/optim/sgd.hpp>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kSgdRows,

struct SgdRow {
  static constexpr int kSlots = 0;
  static constexpr bool kRoot = false;
  float rate;
  template <typename Slots>
  float begin(Slots, float) const { return 0; }
  template <typename Slots>
  void finish(float& w, Slots, float g, float) const { w -= g * rate; }
};
struct MomentumRow {
  static constexpr int kSlots = 1;
  static constexpr bool kRoot = false;
  float rate, factor;
  template <typename Slots>
  float begin(Slots slot, float g) const { return slot[0] = slot[0] * factor - g * rate; }
  template <typename Slots>
  void finish(float& w, Slots slot, float, float) const { w += slot[0]; }
};
struct NesterovRow {
  static constexpr int kSlots = 1;
  static constexpr bool kRoot = false;
  float rate, factor;
  template <typename Slots>
  float begin(Slots slot, float g) const { return slot[0] = slot[0] * factor - g * rate; }
  template <typename Slots>
  void finish(float& w, Slots slot, float g, float) const { w += slot[0] * factor - g * rate; }
};
)
// clang-format on
}  // namespace optim_internal

DISTRIBUTE_INLINE SGD::SGD(SGDOptions options)
    : Optimizer(common_options(options)), momentum_(options.momentum), nesterov_(options.nesterov) {
  if (options.momentum < 0 || options.momentum > 1)
    throw InvalidArgumentError(
        str_cat("SGD: momentum must be between 0 and 1, got ", options.momentum));
}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> SGD::slots() const {
  if (momentum_ == 0.0) return {};
  return {{"momentum"}};
}

DISTRIBUTE_INLINE ElementKernel SGD::kernel(float rate, int64_t) const {
  using namespace optim_internal;
  const float factor = float(momentum_);
  if (factor == 0.0f) return row_kernel(kSgdRows, SgdRow{rate});
  if (nesterov_) return row_kernel(kSgdRows, NesterovRow{rate, factor});
  return row_kernel(kSgdRows, MomentumRow{rate, factor});
}

DISTRIBUTE_INLINE void SGD::add_config(OptimizerConfig& config) const {
  config.set("momentum", momentum_);
  config.set("nesterov", nesterov_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> SGD::from_config(const OptimizerConfig& config) {
  auto options = options_from<SGDOptions>(config);
  config.get("momentum", options.momentum);
  config.get("nesterov", options.nesterov);
  return std::make_unique<SGD>(options);
}

}  // namespace distribute::optim
