#pragma once
#include <distribute/base/error.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/compile.hpp>
#include <distribute/train/detail/class_weights.hpp>
#include <distribute/train/detail/coordinated_steps.hpp>
#include <distribute/train/detail/named_outputs.hpp>
#include <distribute/train/fit_loop.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE void Model::run_without_coordinator() { coordinated_.reset(); }

DISTRIBUTE_INLINE bool Model::is_chief() const { return strategy_.extended().should_checkpoint(); }

DISTRIBUTE_INLINE void Model::require_compiled(const char* method) const {
  if (compiled_) return;
  throw FailedPreconditionError(
      str_cat("You must call `compile()` before calling `", method, "()`."));
}

DISTRIBUTE_INLINE optim::Optimizer& Model::optimizer() const {
  require_compiled("optimizer");
  if (scaled_) return *scaled_;
  return compiled_->optimizer;
}

DISTRIBUTE_INLINE nn::metrics::Direction Model::direction_of(const std::string& figure) const {
  using nn::metrics::Direction;
  const std::string name = figure.starts_with("val_") ? figure.substr(4) : figure;
  if (name == "loss") return Direction::Down;
  for (const Figure& known : figures_)
    if (known.name == name) return known.metric->direction();
  const bool is_loss = compiled_ && named_ && name.ends_with("_loss") &&
                       loss_of(name.substr(0, name.size() - 5)) != nullptr;
  return is_loss ? Direction::Down : Direction::Unknown;
}

DISTRIBUTE_INLINE const std::vector<CompiledMetric>& Model::metrics() const {
  require_compiled("metrics");
  return all_metrics_;
}

DISTRIBUTE_INLINE int64_t Model::steps_per_execution() const {
  return compiled_ ? compiled_->steps_per_execution : 1;
}

DISTRIBUTE_INLINE void Model::resume_at(int64_t epoch, int64_t batch) {
  start_ = Start{epoch, batch};
}

DISTRIBUTE_INLINE CheckpointParts Model::checkpoint_parts() const {
  CheckpointParts parts{{"model", &module_}};
  if (compiled_) parts.emplace_back("optimizer", &optimizer());
  return parts;
}

DISTRIBUTE_INLINE CheckpointParts Model::training_state() {
  CheckpointParts parts = checkpoint_parts();
  require_compiled("training_state");
  for (const Figure& figure : figures_)
    parts.emplace_back("metric_" + figure.name, &*figure.metric);
  if (accumulator_) parts.emplace_back("gradients", state_of(*accumulator_));
  parts.emplace_back("means", state_of(means_));
  std::get<TensorState>(parts.back().second).per_worker = false;
  if (callbacks_) callbacks_->add_states(parts);
  if (coordinated_) return parts;  // every worker has a position of its own
  parts.emplace_back("iterator",
                     TensorState{[this] { return iterator_->state(); },
                                 [this](const Tensor& saved) { iterator_->restore(saved); },
                                 !iterator_ || iterator_->per_worker()});
  return parts;
}

/// Weights exist before the first step, so that callbacks can restore and count them. Inputs of
/// unknown size are left to the first step.
DISTRIBUTE_INLINE void Model::build(const data::ElementSpec& spec) {
  if (named_) return build_named(spec);
  const auto* one = dynamic_cast<const nn::NamedModule*>(&module_);
  const auto input = std::find_if(spec.begin(), spec.end(), [&](const data::TensorSpec& component) {
    return !one || component.name.empty() || component.name == one->input_names().at(0);
  });
  if (!module_.built() && input != spec.end() && !input->shape.empty()) {
    std::vector<int64_t> shape = input->shape;
    shape[0] = 1;
    if (std::find(shape.begin(), shape.end(), -1) == shape.end())
      module_(cast(zeros(Shape(shape)), input->dtype));
  }
}

DISTRIBUTE_INLINE DistributedDataset Model::distribute(const InputData& data) const {
  if (const auto* whole = std::get_if<data::Dataset>(&data.data()))
    return strategy_.experimental_distribute_dataset(*whole);
  if (const auto* creator = std::get_if<DatasetCreator>(&data.data()))
    return strategy_.distribute_datasets_from_function(*creator);
  return *std::get<std::shared_ptr<const DistributedDataset>>(data.data());
}

DISTRIBUTE_INLINE DistributedDataset Model::distribute_for_test(const InputData& data) const {
  const auto* whole = std::get_if<data::Dataset>(&data.data());
  const int64_t workers = strategy_.extended().input_context().num_input_pipelines();
  if (!whole || workers == 1 ||
      data::options_of(*whole->node()).experimental_distribute.auto_shard_policy)
    return distribute(data);
  try {
    data::auto_shard(whole->node(), workers, 0, data::AutoShardPolicy::Auto);
  } catch (const InvalidArgumentError&) {  // fewer files than workers
    return distribute(whole->with_options(
        {.experimental_distribute = {.auto_shard_policy = data::AutoShardPolicy::Data}}));
  }
  return distribute(data);
}

/// Workers exchange their numbers only when one of them has changed.
DISTRIBUTE_INLINE int64_t Model::count_examples(const PerReplica<data::Batch>& batch) {
  int64_t mine = 0;
  for (const data::Batch& part : batch.values()) mine += data::batch_size(part);
  StrategyExtended& extended = strategy_.extended();
  if (extended.input_context().num_input_pipelines() == 1) return mine;
  if (extended.any_worker(mine != local_batch_)) {
    local_batch_ = mine;
    global_batch_ = 0;
    for (const std::string& count : extended.all_gather_texts(std::to_string(mine)))
      global_batch_ += std::stoll(count);
  }
  return global_batch_;
}

DISTRIBUTE_INLINE void Model::run_step(const PerReplica<data::Batch>& batch, bool training) {
  global_batch_ = count_examples(batch);
  if (training && accumulator_) accumulator_->begin_step();
  const auto step = [&](const data::Batch& given) {
    const data::Batch part = train_internal::by_position(module_, given);
    if (!training) return test_step(part);
    const data::Batch weighted =
        class_weight_.empty() || named_
            ? part
            : train_internal::with_weights(part, class_weight_, module_.output_shape());
    return recorded_ ? recorded_step(weighted) : train_step(weighted);
  };
  unread_.push_back({strategy_.run(step, batch), global_batch_});
}

DISTRIBUTE_INLINE void Model::add_figures(StepMeans& means) {
  const std::vector<UnreadStep> steps = std::exchange(unread_, {});
  const std::vector<Logs> figures = reduce_step_logs(strategy_, steps);
  for (size_t i = 0; i < steps.size(); ++i) means.add(figures[i], steps[i].examples);
}

DISTRIBUTE_INLINE Tensor Model::compute_loss(const data::Batch& batch, const Tensor& prediction) {
  const std::vector<Tensor> terms = module_.losses();
  if (!compiled_->loss && terms.empty())
    throw FailedPreconditionError("compile: there is no loss, and the module adds none");
  Tensor loss;
  if (compiled_->loss) {
    if (!batch.y)
      throw InvalidArgumentError("fit: the data has no targets, and the loss needs them");
    const Tensor weight = batch.more.empty() ? Tensor() : batch.more[0];
    loss = compiled_->loss.share(batch.y, prediction, global_batch_, weight);
  }
  return with_regularization(loss);
}

DISTRIBUTE_INLINE Tensor Model::with_regularization(Tensor loss) const {
  const std::vector<Tensor> terms = module_.losses();
  if (terms.empty()) return loss;
  const Tensor regularization = nn::scale_regularization_loss(terms);
  return loss ? loss + regularization : regularization;
}

DISTRIBUTE_INLINE void Model::update_metrics(const data::Batch& batch, const Tensor& prediction) {
  const Tensor weight = batch.more.empty() ? Tensor() : batch.more[0];
  for (const CompiledMetric& metric : compiled_->metrics)
    metric.update_state(batch.y, prediction, {});
  for (const CompiledMetric& metric : compiled_->weighted_metrics)
    metric.update_state(batch.y, prediction, weight);
}

DISTRIBUTE_INLINE void Model::minimize(const Tensor& loss, GradientTape& tape) {
  const std::vector<Variable> variables = module_.trainable_variables();
  if (compiled_->minimize) {
    compiled_->minimize(loss, variables, tape);
    return;
  }
  if (!accumulator_) {
    optimizer().minimize(loss, variables, tape);
    return;
  }
  accumulate(tape.gradient(optimizer().scale_loss(loss), variables), variables);
}

/// As in Keras a batch whose scaled gradients are not finite is left out alone.
DISTRIBUTE_INLINE void Model::accumulate(std::vector<Tensor> gradients,
                                         const std::vector<Variable>& variables) {
  const int replica = get_replica_context()->local_replica_id();
  auto* scaled = dynamic_cast<optim::LossScaleOptimizer*>(&optimizer());
  if (scaled && !scaled->unscale_batch(gradients)) return accumulator_->leave_out(replica);
  optim::Optimizer& applied = scaled ? scaled->inner_optimizer() : optimizer();
  accumulator_->add(replica, gradients);
  if (accumulator_->is_due())
    applied.apply_gradients(accumulator_->take(replica), variables);
  else
    applied.move_averages(variables);
}

DISTRIBUTE_INLINE StepLogs Model::train_step(const data::Batch& batch) {
  if (named_) return named_step(batch, true);
  const Updated updated = update_weights(batch);
  update_metrics(batch, updated.prediction);
  return {{"loss", updated.loss}};
}

DISTRIBUTE_INLINE Model::Updated Model::update_weights(const data::Batch& batch) {
  GradientTape tape;
  const Tensor prediction = module_(batch.x, {.training = true});
  const Tensor loss = compute_loss(batch, prediction);
  minimize(loss, tape);
  return {loss, prediction};
}

DISTRIBUTE_INLINE StepLogs Model::test_step(const data::Batch& batch) {
  if (named_) return named_step(batch, false);
  const Tensor prediction = module_(batch.x);
  update_metrics(batch, prediction);
  return {{"loss", compute_loss(batch, prediction)}};
}

DISTRIBUTE_INLINE Tensor Model::predict_step(const data::Batch& batch) { return module_(batch.x); }

DISTRIBUTE_INLINE void Model::reset_metrics() {
  for (const CompiledMetric& metric : all_metrics_) metric->reset_state();
}

DISTRIBUTE_INLINE void Model::add_metrics(Logs& logs) const {
  for (const Figure& figure : figures_)
    logs.set(figure.name, double(figure.metric->result().item<float>()));
}

DISTRIBUTE_INLINE History Model::fit(const InputData& data, const FitOptions& options) {
  require_compiled("fit");
  const ScopeUnlessCurrent scope(strategy_);
  if (named_ && named_->output_names().size() > 1 && !options.class_weight.empty())
    throw InvalidArgumentError(
        "fit: `class_weight` is only supported for Models with a single output.");
  class_weight_ = options.class_weight;
  record_steps();  // anew: parameters may have been frozen since
  std::optional<History> history;
  run_on_all_workers(*this, [&] { history = FitLoop(*this, data, options).run(); });
  return *std::move(history);
}

DISTRIBUTE_INLINE Logs Model::evaluate(const InputData& data, const EvaluateOptions& options) {
  require_compiled("evaluate");
  require_steps(data, options.steps, "evaluate", "steps");
  const ScopeUnlessCurrent scope(strategy_);
  if (coordinated_) {
    train_internal::CoordinatedLoop workers(*coordinated_, data);
    build(workers.element_spec());
    return TestLoop(*this, workers, options.steps)
        .run(CallbackList(options.callbacks, *this, {.steps = options.steps}));
  }
  const DistributedDataset divided = distribute_for_test(data);
  Logs logs;
  run_on_all_workers(*this, [&] {
    build(divided.element_spec());
    const CallbackList callbacks(options.callbacks, *this, {.steps = options.steps});
    logs = TestLoop(*this, divided, options.steps).run(callbacks);
  });
  return logs;
}

DISTRIBUTE_INLINE void Model::save(const std::string& path) {
  const ScopeUnlessCurrent scope(strategy_);
  nn::save_module(module_, path, nullptr);
}

DISTRIBUTE_INLINE void Model::save(const std::string& path,
                                   const saved_model::SaveOptions& options) {
  const ScopeUnlessCurrent scope(strategy_);
  nn::save_module(module_, path, &options);
}

DISTRIBUTE_INLINE Logs Model::train_on_batch(const PerReplica<data::Batch>& batch) {
  require_compiled("train_on_batch");
  const ScopeUnlessCurrent scope(strategy_);
  const struct WithoutClassWeights {  // those of fit do not count here
    std::map<int64_t, float>& weights;
    std::map<int64_t, float> of_fit = std::exchange(weights, {});
    ~WithoutClassWeights() { weights = std::move(of_fit); }
  } without{class_weight_};
  StepMeans step;
  run_step(batch, true);
  add_figures(step);
  return step.means();
}

}  // namespace distribute::train
