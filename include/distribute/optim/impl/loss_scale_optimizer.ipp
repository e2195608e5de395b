#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/detail/step_updates.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/serialization.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
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

namespace optim_internal {

DISTRIBUTE_INLINE bool is_present(const Tensor& gradient) { return bool(gradient); }

/// The norm answers in one pass unless it overflows.
DISTRIBUTE_INLINE bool are_finite(const std::vector<Tensor>& gradients) {
  if (std::isfinite(global_norm(gradients).item<float>())) return true;
  return std::all_of(gradients.begin(), gradients.end(), [](const Tensor& gradient) {
    return reduce_all(is_finite(gradient)).item<bool>();
  });
}

/// Returns 1 where the gradients that are present are not finite, and 0 elsewhere.
DISTRIBUTE_INLINE Tensor overflow_flag(const std::vector<Tensor>& gradients) {
  std::vector<Tensor> present;
  std::copy_if(gradients.begin(), gradients.end(), std::back_inserter(present), is_present);
  return fill(Shape{}, are_finite(present) ? 0.0f : 1.0f, DType::Float32, present[0].device());
}

/// Sums the gradients that are present over the replicas, and `flag` with them.
DISTRIBUTE_INLINE void sum_with_flag(std::vector<Tensor>& gradients, Tensor& flag,
                                     ReplicaContext& replica) {
  std::vector<Tensor> all;
  std::copy_if(gradients.begin(), gradients.end(), std::back_inserter(all), is_present);
  if (flag) all.push_back(flag);
  all = replica.all_reduce(ReduceOp::Sum, all);
  size_t next = 0;
  for (Tensor& gradient : gradients)
    if (gradient) gradient = std::move(all[next++]);
  if (flag) flag = std::move(all[next]);
}

}  // namespace optim_internal

DISTRIBUTE_INLINE std::vector<Tensor> LossScaleOptimizer::unscaled(
    const std::vector<Tensor>& gradients) const {
  const float scale = loss_scale();
  std::vector<Tensor> results(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i]) results[i] = gradients[i] / scale;
  return results;
}

DISTRIBUTE_INLINE bool LossScaleOptimizer::unscale_batch(std::vector<Tensor>& gradients) {
  ReplicaContext* replica = get_replica_context();
  if (!replica || std::none_of(gradients.begin(), gradients.end(), optim_internal::is_present))
    return true;  // The wrapped optimizer reports what is wrong.
  Tensor flag;
  if (options_.dynamic)
    flag = replica->all_reduce(ReduceOp::Sum, optim_internal::overflow_flag(gradients));
  gradients = unscaled(gradients);
  if (!flag) return true;
  const bool finite = flag.item<float>() == 0;
  finish_step(finite, *replica);
  return finite;
}

/// The flag is summed with the gradients, so that all replicas decide in the same way.
DISTRIBUTE_INLINE int64_t
LossScaleOptimizer::apply_gradients(const std::vector<Tensor>& gradients,
                                    const std::vector<Variable>& variables, ApplyOptions options) {
  ReplicaContext* replica = get_replica_context();
  // The wrapped optimizer reports what is wrong.
  if (!replica || std::none_of(gradients.begin(), gradients.end(), optim_internal::is_present))
    return inner_.apply_gradients(gradients, variables, options);
  Tensor flag;
  if (options_.dynamic) flag = optim_internal::overflow_flag(gradients);
  std::vector<Tensor> sums = unscaled(gradients);
  if (options.find_unused_parameters)
    sums = optim_internal::with_zeros_for_unused(std::move(sums), variables, *replica);
  if (!options.skip_gradients_aggregation) optim_internal::sum_with_flag(sums, flag, *replica);
  const bool finite = !flag || flag.item<float>() == 0;
  int64_t step = 0;
  if (finite) {
    step = inner_.apply_gradients(
        sums, variables,
        {.skip_gradients_aggregation = true, .reduced_gradients = options.reduced_gradients});
  } else if (options.reduced_gradients) {
    *options.reduced_gradients = std::move(sums);
  }
  if (flag) finish_step(finite, *replica);
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
