#pragma once
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/detail/update_row.hpp>
#include <distribute/optim/lamb.hpp>

#include <cmath>

namespace distribute::optim {

namespace optim_internal {
// clang-format off
DISTRIBUTE_KERNEL_TEXT(kLambRows,

struct LambRow {
  static constexpr int kSlots = 2;
  static constexpr bool kRoot = true;
  float rate, complement_1, complement_2, correction_1, correction_2, epsilon;
  template <typename Slots, typename Number>
  Number begin(Slots slot, Number g) const {
    slot[0] = slot[0] + (g - slot[0]) * complement_1;
    slot[1] = slot[1] + (g * g - slot[1]) * complement_2;
    return slot[1] * correction_2;
  }
  template <typename Slots, typename Number>
  Number step(Slots slot, Number root) const {
    return slot[0] * correction_1 / (root + epsilon);
  }
  template <typename Slots>
  void finish(float& w, Slots slot, float, float root) const {
    w -= rate * step(slot, root);
  }
};
)
// clang-format on

/// Norms of a variable and of its step.
struct LambNorms {
  double weights = 0, step = 0;
  float ratio() const {
    return weights > 0 && step > 0 ? float(std::sqrt(weights) / std::sqrt(step)) : 1.0f;
  }
};

/// Computes the squares of the norms. It computes the step as `row` does, and changes nothing.
DISTRIBUTE_INLINE LambNorms lamb_norms(const LambRow& row, const VariableUpdate& update,
                                       float decay) {
  const std::vector<float> weights = update.variable.value().to_vector();
  const std::vector<float> gradient = update.gradient.to_vector();
  const std::vector<float> first = update.slots[0].value().to_vector();
  const std::vector<float> second = update.slots[1].value().to_vector();
  LambNorms squares;
  for (size_t i = 0; i < weights.size(); ++i) {
    const float w = kernels::UpdateSteps::shrunk(weights[i], decay);
    float slots[2] = {first[i], second[i]};
    const float under_root = row.begin(slots, gradient[i]);
    const float step = row.step(slots, std::sqrt(under_root));
    squares.weights += double(w) * w;
    squares.step += double(step) * step;
  }
  return squares;
}

/// Computes the same on the GPU that has the gradient, and leaves the result there: [2].
DISTRIBUTE_INLINE Tensor gpu_lamb_norms(const LambRow& row, const VariableUpdate& update,
                                        float decay) {
  const Tensor g = update.gradient.row_major();
  const auto value = [&](const Variable& v) { return v.value().to(g.device()).renamed(); };
  const Tensor w = kernels::UpdateSteps::shrunk(value(update.variable), decay);
  Tensor slots[2] = {value(update.slots[0]), value(update.slots[1])};
  const Tensor under_root = row.begin(slots, g);
  const Tensor step = row.step(slots, sqrt(under_root));
  return stack({reduce_sum(square(w)), reduce_sum(square(step))}, 0);
}

}  // namespace optim_internal

DISTRIBUTE_INLINE Lamb::Lamb(LambOptions options)
    : Optimizer(common_options(options)),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2),
      epsilon_(options.epsilon) {}

DISTRIBUTE_INLINE std::vector<Optimizer::Slot> Lamb::slots() const {
  return {{"momentum"}, {"velocity"}};
}

namespace optim_internal {

DISTRIBUTE_INLINE LambRow lamb_row(double beta_1, double beta_2, double epsilon, float rate,
                                   int64_t step) {
  return {rate,
          float(1.0 - beta_1),
          float(1.0 - beta_2),
          float(1.0 / (1.0 - std::pow(beta_1, double(step)))),
          float(1.0 / (1.0 - std::pow(beta_2, double(step)))),
          float(epsilon)};
}

}  // namespace optim_internal

DISTRIBUTE_INLINE ElementKernel Lamb::kernel(float rate, int64_t step) const {
  using namespace optim_internal;
  return row_kernel(kLambRows, lamb_row(beta_1_, beta_2_, epsilon_, rate, step));
}

DISTRIBUTE_INLINE std::vector<float> Lamb::layer_ratios(const std::vector<VariableUpdate>& updates,
                                                        int64_t step,
                                                        const std::vector<float>& decays) const {
  const auto row = optim_internal::lamb_row(beta_1_, beta_2_, epsilon_, 1.0f, step);
  std::vector<float> ratios(updates.size());
  std::vector<Tensor> on_gpu;  // read in one copy
  std::vector<size_t> places;
  for (size_t i = 0; i < updates.size(); ++i) {
    if (is_gpu(updates[i].gradient.device())) {
      on_gpu.push_back(optim_internal::gpu_lamb_norms(row, updates[i], decays[i]));
      places.push_back(i);
    } else {
      ratios[i] = optim_internal::lamb_norms(row, updates[i], decays[i]).ratio();
    }
  }
  if (on_gpu.empty()) return ratios;
  const std::vector<float> squares = concat(on_gpu, 0).to_vector();
  for (size_t i = 0; i < places.size(); ++i)
    ratios[places[i]] = optim_internal::LambNorms{squares[2 * i], squares[2 * i + 1]}.ratio();
  return ratios;
}

DISTRIBUTE_INLINE void Lamb::add_config(OptimizerConfig& config) const {
  config.set("beta_1", beta_1_);
  config.set("beta_2", beta_2_);
  config.set("epsilon", epsilon_);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> Lamb::from_config(const OptimizerConfig& config) {
  auto options = options_from<LambOptions>(config);
  config.get("beta_1", options.beta_1);
  config.get("beta_2", options.beta_2);
  config.get("epsilon", options.epsilon);
  return std::make_unique<Lamb>(options);
}

}  // namespace distribute::optim
