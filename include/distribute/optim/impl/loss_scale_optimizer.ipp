#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/serialization.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace distribute::optim {

namespace optim_internal {
// The body is in optimizer.ipp.
Variable scalar_variable(const char* name, Variable::Initializer value);
void run_once(ReplicaContext* replica, const std::function<void()>& fn);
}  // namespace optim_internal

DISTRIBUTE_INLINE LossScaleOptimizer::LossScaleOptimizer(Optimizer& inner,
                                                         LossScaleOptimizerOptions options)
    : Optimizer(WrapsAnother(), options.name.empty() ? "loss_scale_optimizer" : options.name),
      inner_(inner),
      options_(std::move(options)) {
  if (!(options_.initial_scale > 0) || options_.dynamic_growth_steps < 1)
    throw InvalidArgumentError(
        str_cat("LossScaleOptimizer: the initial scale must be positive and ",
                "the growth steps at least 1, got ", options_.initial_scale, " and ",
                options_.dynamic_growth_steps));
  if (inner.clips_per_replica())
    throw InvalidArgumentError(
        "LossScaleOptimizer sums gradients before they are clipped; make the inner optimizer "
        "without clip_per_replica");
  good_steps_ = optim_internal::scalar_variable("step_counter", [] { return Tensor(int64_t{0}); });
  scale_ = optim_internal::scalar_variable(
      "dynamic_scale", [scale = float(options_.initial_scale)] { return Tensor(scale); });
}

DISTRIBUTE_INLINE LossScaleOptimizer::LossScaleOptimizer(std::unique_ptr<Optimizer> inner,
                                                         LossScaleOptimizerOptions options)
    : LossScaleOptimizer(
          inner ? *inner : throw InvalidArgumentError("LossScaleOptimizer: no inner optimizer"),
          std::move(options)) {
  owned_ = std::move(inner);
}

DISTRIBUTE_INLINE std::unique_ptr<Optimizer> LossScaleOptimizer::from_config(
    const OptimizerConfig& config) {
  LossScaleOptimizerOptions options;
  OptimizerText inner;
  double steps = double(options.dynamic_growth_steps);
  config.get("inner_optimizer", inner);
  config.get("initial_scale", options.initial_scale);
  config.get("dynamic_growth_steps", steps);
  config.get("dynamic", options.dynamic);
  config.get("name", options.name);
  options.dynamic_growth_steps = int64_t(steps);
  if (inner.json.empty())
    throw InvalidArgumentError("LossScaleOptimizer: the configuration has no 'inner_optimizer'");
  return std::make_unique<LossScaleOptimizer>(deserialize(inner.json), std::move(options));
}

DISTRIBUTE_INLINE float LossScaleOptimizer::loss_scale() const {
  return scale_.value().item<float>();
}

DISTRIBUTE_INLINE Tensor LossScaleOptimizer::scale_loss(const Tensor& loss) const {
  return loss * loss_scale();
}

DISTRIBUTE_INLINE OptimizerConfig LossScaleOptimizer::get_config() const {
  OptimizerConfig config;
  config.set("name", name());
  config.set("inner_optimizer", OptimizerText{optim::serialize(inner_)});
  config.set("initial_scale", options_.initial_scale);
  config.set("dynamic_growth_steps", double(options_.dynamic_growth_steps));
  if (!options_.dynamic) config.set("dynamic", false);
  return config;
}

DISTRIBUTE_INLINE int64_t
LossScaleOptimizer::apply_gradients(const std::vector<Tensor>& gradients,
                                    const std::vector<Variable>& variables, ApplyOptions options) {
  ReplicaContext* replica = get_replica_context();
  // The wrapped optimizer reports what is wrong.
  const bool none =
      std::none_of(gradients.begin(), gradients.end(), [](auto& g) { return bool(g); });
  if (!replica || none) return inner_.apply_gradients(gradients, variables, options);
  const float inverse = 1.0f / loss_scale();
  std::vector<Tensor> present;
  for (const Tensor& gradient : gradients)
    if (gradient) present.push_back(gradient * inverse);
  if (!options.skip_gradients_aggregation) present = replica->all_reduce(ReduceOp::Sum, present);
  // All replicas see the same sums, so they decide in the same way.
  const bool finite = !options_.dynamic || std::isfinite(global_norm(present).item<float>());
  int64_t step = 0;
  std::vector<Tensor> sums(gradients.size());
  size_t next = 0;
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i]) sums[i] = std::move(present[next++]);
  if (finite) {
    step = inner_.apply_gradients(
        sums, variables,
        {.skip_gradients_aggregation = true, .reduced_gradients = options.reduced_gradients});
  } else if (options.reduced_gradients) {
    *options.reduced_gradients = std::move(sums);
  }
  if (options_.dynamic) finish_step(finite, *replica);
  return step;
}

DISTRIBUTE_INLINE int64_t LossScaleOptimizer::minimize(const Tensor& loss,
                                                       const std::vector<Variable>& variables,
                                                       GradientTape& tape, ApplyOptions options) {
  GradientTape::Call call;
  call.output_gradients = {fill(loss.shape(), loss_scale(), loss.dtype(), loss.device())};
  return apply_gradients(tape.gradient({loss}, variables, call), variables, options);
}

DISTRIBUTE_INLINE void LossScaleOptimizer::finish_step(bool finite, ReplicaContext& replica) {
  optim_internal::run_once(&replica, [&] {
    const int64_t good = finite ? good_steps_.value().item<int64_t>() + 1 : 0;
    const float scale = loss_scale();
    const bool grows = good >= options_.dynamic_growth_steps && std::isfinite(scale * 2.0f);
    good_steps_.assign(Tensor(grows ? int64_t{0} : good));
    if (!finite) scale_.assign(Tensor(scale * 0.5f));
    if (grows) scale_.assign(Tensor(scale * 2.0f));
  });
}

DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> LossScaleOptimizer::own_variables() const {
  return {{"step_counter", good_steps_}, {"dynamic_scale", scale_}};
}
DISTRIBUTE_INLINE std::vector<Trackable::Child> LossScaleOptimizer::children() const {
  return {{"inner_optimizer", &inner_}};
}

}  // namespace distribute::optim
