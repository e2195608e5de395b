#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/detail/kernel_arguments.hpp>
#include <distribute/optim/detail/optimizer_step.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/optim/optimizer_config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace distribute::optim::optim_internal {

/// Computes x -= x * factor.
DISTRIBUTE_INLINE void scale(float* x, float factor, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) x[i] = kernels::UpdateSteps::shrunk(x[i], factor);
  });
}

/// Computes mean = momentum * mean + (1 - momentum) * x.
DISTRIBUTE_INLINE void average(float* mean, const float* x, float momentum, int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
      mean[i] = kernels::UpdateSteps::averaged(mean[i], x[i], momentum);
  });
}

DISTRIBUTE_INLINE void add_decay(const float* g, const float* w, float decay, float* sum,
                                 int64_t count) {
  simd_call([=]() DISTRIBUTE_ALWAYS_INLINE {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
      sum[i] = kernels::UpdateSteps::with_decay(g[i], w[i], decay);
  });
}

/// Applies the formula to gradient + decay * weights, which is computed in pieces that stay in the
/// cache.
DISTRIBUTE_INLINE ElementKernel with_coupled_decay(ElementKernel formula, float decay,
                                                   size_t num_slots) {
  return [=](float* weights, float* const* slots, const float* gradient, int64_t count) {
    constexpr int64_t kPiece = 2048;
    float sum[kPiece];
    std::vector<float*> moved(num_slots);
    for (int64_t begin = 0; begin < count; begin += kPiece) {
      const int64_t size = std::min(kPiece, count - begin);
      for (size_t s = 0; s < num_slots; ++s) moved[s] = slots[s] + begin;
      add_decay(gradient + begin, weights + begin, decay, sum, size);
      formula(weights + begin, moved.data(), sum, size);
    }
  };
}

}  // namespace distribute::optim::optim_internal

namespace distribute::optim {

namespace optim_internal {

float momentum_of(const CommonOptions& options, int64_t steps_done);  // in optimizer.ipp

DISTRIBUTE_INLINE float factor_at(const std::vector<float>& factors, size_t i) {
  return factors.empty() ? 1.0f : factors.at(i);
}

}  // namespace optim_internal

DISTRIBUTE_INLINE StepNumbers Optimizer::step_of(const std::vector<VariableUpdate>& updates,
                                                 int64_t done) const {
  StepNumbers step{learning_rate(), done, {}};
  for (const VariableUpdate& update : updates) {
    step.decayed.push_back(decays(update.variable));
    if (!factors_.empty()) step.factors.push_back(rate_factor(update.variable));
  }
  return step;
}

/// Takes the mean of the ratios, which are equal on all replicas: this makes replicas wait for each
/// other, so that no replica changes weights that others still read.
DISTRIBUTE_INLINE void Optimizer::add_ratios(StepNumbers& step,
                                             const std::vector<VariableUpdate>& updates,
                                             ReplicaContext& replica) const {
  std::vector<float> decays;
  for (size_t i = 0; i < updates.size(); ++i)
    decays.push_back(step.decayed[i] ? float(options_.weight_decay.value_or(0.0)) * step.rate *
                                           optim_internal::factor_at(step.factors, i)
                                     : 0.0f);
  const std::vector<float> mine = layer_ratios(updates, step.done + 1, decays);
  const Tensor all(Shape{int64_t(mine.size())}, mine);
  step.ratios = replica.all_reduce(ReduceOp::Mean, all).to_vector();
}

DISTRIBUTE_INLINE UpdateKernel Optimizer::make_described_kernel(StepNumbers step) const {
  const UpdateKernel kernel = make_kernel(step);
  return UpdateKernel(kernel, [this, step = std::move(step)] { return describe(step); });
}

DISTRIBUTE_INLINE UpdateKernel Optimizer::make_kernel(StepNumbers step) const {
  const float decay = float(options_.weight_decay.value_or(0.0)) * step.rate;
  const float coupled = float(options_.coupled_weight_decay.value_or(0.0));
  const float momentum = optim_internal::momentum_of(options_, step.done);
  const size_t own = slots().size();
  const bool differ = !step.factors.empty() || !step.ratios.empty();
  std::vector<optim_internal::VariableFormula> formulas = formulas_of(step);
  GpuUpdate gpu{.formula = formulas.empty() ? GpuFormula{} : formulas[0].gpu,
                .decay = decay,
                .coupled_decay = coupled,
                .decays = step.decayed,
                .keeps_average = options_.use_ema,
                .average_momentum = momentum};
  for (size_t i = 0; differ && i < formulas.size(); ++i)
    gpu.own.push_back({formulas[i].gpu.numbers, formulas[i].decay});
  const auto loop = [=, formulas = std::move(formulas), decayed = std::move(step.decayed),
                     ema = options_.use_ema](size_t update, float* weights, float* const* slots,
                                             const float* gradient, int64_t count) {
    const optim_internal::VariableFormula& one =
        formulas.at(differ ? update : size_t(decayed.at(update)));
    if (one.decay != 0.0f) optim_internal::scale(weights, one.decay, count);
    one.formula(weights, slots, gradient, count);
    if (ema) optim_internal::average(slots[own], weights, momentum, count);
  };
  return {loop, std::move(gpu)};
}

/// Gives one formula for each variable if rates or ratios differ; else one without decay and one
/// with it.
DISTRIBUTE_INLINE std::vector<optim_internal::VariableFormula> Optimizer::formulas_of(
    const StepNumbers& step) const {
  std::vector<optim_internal::VariableFormula> formulas;
  const auto add = [&](bool decays, float factor, float ratio) {
    const float rate = step.rate * factor;
    ElementKernel formula = kernel(rate * ratio, step.done + 1);
    const GpuFormula gpu = formula.gpu();
    if (decays && options_.coupled_weight_decay)
      formula = optim_internal::with_coupled_decay(
          std::move(formula), float(*options_.coupled_weight_decay), all_slots().size());
    const float decay = decays ? float(options_.weight_decay.value_or(0.0)) * rate : 0.0f;
    formulas.push_back({std::move(formula), decay, gpu});
  };
  if (step.factors.empty() && step.ratios.empty()) {
    add(false, 1, 1);
    add(true, 1, 1);
    return formulas;
  }
  for (size_t i = 0; i < step.decayed.size(); ++i)
    add(step.decayed[i], optim_internal::factor_at(step.factors, i),
        optim_internal::factor_at(step.ratios, i));
  return formulas;
}

}  // namespace distribute::optim
