#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/strategy/function.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/compile.hpp>
#include <distribute/train/detail/coordinated_steps.hpp>
#include <distribute/train/fit_loop.hpp>
#include <distribute/train/model.hpp>

#include <functional>
#include <typeinfo>
#include <utility>

namespace distribute::train {

/// The update of a training step as a CUDA graph. Metrics, whose sums are numbers of the host, are
/// left out.
struct Model::Recorded {
  Function<std::function<std::vector<Tensor>(const data::Batch&)>> step;
};

DISTRIBUTE_INLINE Model::Model(nn::Module& module) : module_(module), strategy_(get_strategy()) {
  named_ = dynamic_cast<nn::NamedModule*>(&module);
  if (named_ && named_->input_names().size() == 1 && named_->output_names().size() == 1)
    named_ = nullptr;
  coordinated_ = worker_steps();
}
DISTRIBUTE_INLINE Model::~Model() = default;

DISTRIBUTE_INLINE void Model::compile(CompileOptions options) {
  if (options.gradient_accumulation_steps < 1)
    throw InvalidArgumentError(str_cat("compile: gradient_accumulation_steps must be at least 1; ",
                                       "it is ", options.gradient_accumulation_steps));
  if (options.minimize && options.gradient_accumulation_steps > 1)
    throw InvalidArgumentError(
        "compile: gradient_accumulation_steps does nothing with a minimize of your own; with hvd "
        "take backward_passes_per_step");
  if (options.steps_per_execution < 1)
    throw InvalidArgumentError(str_cat("compile: steps_per_execution must be at least 1; it is ",
                                       options.steps_per_execution));
  if (coordinated_ && options.gradient_accumulation_steps > 1)
    throw InvalidArgumentError(
        "compile: gradient_accumulation_steps does nothing where a coordinator gives every step to "
        "another worker, whose gradients are applied at once; take larger batches");
  check_outputs(options);
  ++compilations_;
  make_figures(options);
  options.optimizer.set_batches_per_step(options.gradient_accumulation_steps);
  accumulator_.reset();
  if (options.gradient_accumulation_steps > 1)
    accumulator_ = std::make_unique<GradientAccumulator>(options.gradient_accumulation_steps,
                                                         strategy_.extended().num_local_replicas());
  compiled_ = std::make_unique<CompileOptions>(std::move(options));
  scale_loss_where_needed();
  record_steps();
}

DISTRIBUTE_INLINE void Model::make_figures(const CompileOptions& options) {
  const ScopeUnlessCurrent scope(strategy_);  // for metrics of a name
  figures_.clear();
  add_figures_of("", options.metrics, false, options);
  for (const auto& [output, metrics] : options.output_metrics)
    add_figures_of(output, metrics, false, options);
  add_figures_of("", options.weighted_metrics, true, options);
  for (const auto& [output, metrics] : options.weighted_output_metrics)
    add_figures_of(output, metrics, true, options);
  const bool has_other_workers =
      strategy_.num_replicas_in_sync() > strategy_.extended().num_local_replicas();
  all_metrics_.clear();
  for (const Figure& figure : figures_) {
    if (has_other_workers && figure.metric.is_of_no_strategy())
      throw FailedPreconditionError(
          str_cat("compile: the metric '", figure.name,
                  "' was made outside of the strategy's scope, so that each worker would count its "
                  "own examples alone; make it in the scope, or give its name"));
    all_metrics_.push_back(figure.metric);
  }
}

DISTRIBUTE_INLINE bool scales_the_loss(const optim::Optimizer& optimizer) {
  return dynamic_cast<const optim::LossScaleOptimizer*>(&optimizer) != nullptr;
}

DISTRIBUTE_INLINE void Model::scale_loss_where_needed() {
  scaled_.reset();
  if (module_.dtype_policy().name() != "mixed_float16" || !compiled_->auto_scale_loss ||
      scales_the_loss(compiled_->optimizer))
    return;
  if (compiled_->minimize)
    return log_warning("train",
                       "compile: with a minimize of your own the loss is not scaled, and small "
                       "gradients in float16 vanish; give it an optim::LossScaleOptimizer");
  const ScopeUnlessCurrent scope(strategy_);
  scaled_ = std::make_unique<optim::LossScaleOptimizer>(compiled_->optimizer);
}

DISTRIBUTE_INLINE void Model::record_steps() {
  recorded_.reset();
  const std::vector<Device> devices = strategy_.extended().replica_devices();
  const bool can = !devices.empty() && is_gpu(devices[0]) && !strategy_.cluster_resolver() &&
                   strategy_.extended().recording_problem().empty();
  if (!can || compiled_->run_eagerly || compiled_->minimize || accumulator_ || named_ ||
      scales_the_loss(optimizer()) || typeid(*this) != typeid(Model))
    return;
  const std::function<std::vector<Tensor>(const data::Batch&)> step =
      [this](const data::Batch& batch) {
        const Updated updated = update_weights(batch);
        std::vector<Tensor> results{updated.loss};
        if (all_metrics_.empty()) return results;
        results.push_back(updated.prediction);
        if (const Tensor mask = nn::get_keras_mask(updated.prediction)) results.push_back(mask);
        return results;
      };
  recorded_ = std::make_unique<Recorded>(Recorded{function(step)});
}

DISTRIBUTE_INLINE StepLogs Model::recorded_step(const data::Batch& batch) {
  const std::vector<Tensor> values = recorded_->step(batch);
  if (values.size() == 2) update_metrics(batch, values[1]);
  if (values.size() == 3) update_metrics(batch, nn::nn_internal::with_mask(values[1], values[2]));
  return {{"loss", values[0]}};
}

}  // namespace distribute::train
