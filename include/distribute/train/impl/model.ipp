#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/data/batch.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/strategy/function.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/compile.hpp>
#include <distribute/train/detail/class_weights.hpp>
#include <distribute/train/detail/coordinated_steps.hpp>
#include <distribute/train/detail/named_outputs.hpp>
#include <distribute/train/fit_loop.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <functional>
#include <string>
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

DISTRIBUTE_INLINE void Model::run_without_coordinator() { coordinated_.reset(); }

DISTRIBUTE_INLINE bool Model::is_chief() const { return strategy_.extended().should_checkpoint(); }

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
  const bool is_loss = compiled_ && name.ends_with("_loss") &&
                       compiled_->losses.contains(name.substr(0, name.size() - 5));
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
        class_weight_.empty()
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
  const std::vector<Tensor> gradients = tape.gradient(optimizer().scale_loss(loss), variables);
  const int replica = get_replica_context()->local_replica_id();
  accumulator_->add(replica, gradients);
  if (accumulator_->is_due()) optimizer().apply_gradients(accumulator_->take(replica), variables);
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

}  // namespace distribute::train

namespace distribute::train_internal {

/// Returns the share of replica `r` of `all`: rows in order.
DISTRIBUTE_INLINE data::Batch part_of(const data::Batch& batch, int64_t r, int64_t all) {
  const int64_t rows = data::batch_size(batch);
  return data::rows(batch, rows * r / all, rows * (r + 1) / all);
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE History Model::fit(const InputData& data, const FitOptions& options) {
  require_compiled("fit");
  const ScopeUnlessCurrent scope(strategy_);
  if (named_ && !options.class_weight.empty())
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
  StepMeans step;
  run_step(batch, true);
  add_figures(step);
  return step.means();
}

/// Every worker reads all batches and computes its rows, so the results are in the data's order.
DISTRIBUTE_INLINE void Model::predict_here(const data::Dataset& data, const CallbackList& callbacks,
                                           std::optional<int64_t> steps, bool all_outputs,
                                           Predictions& results) {
  StrategyExtended& extended = strategy_.extended();
  auto iterator = data.iterator();
  const int64_t many = steps_per_execution();
  int64_t step = 0;
  for (; !stop_predicting_ && (!steps || step < *steps); ++step) {
    const auto batch = iterator.get_next_as_optional();
    if (!batch) break;
    if (step % many == 0) callbacks.call(&Callback::on_predict_batch_begin, step);
    std::vector<data::Batch> parts;
    for (int r = 0; r < extended.num_local_replicas(); ++r)
      parts.push_back(
          train_internal::part_of(*batch, extended.replica_id(r), extended.num_replicas_in_sync()));
    const auto all =
        strategy_.run([&](const data::Batch& part) { return predict_parts(part, all_outputs); },
                      PerReplica<data::Batch>(std::move(parts)));
    results.resize(all[0].size());
    for (size_t i = 0; i < all[0].size(); ++i) {
      std::vector<Tensor> one;
      for (const std::vector<Tensor>& replica : all.values()) one.push_back(replica.at(i));
      results[i].push_back(strategy_.gather(PerReplica<Tensor>(std::move(one)), 0));
    }
    if ((step + 1) % many == 0) callbacks.call(&Callback::on_predict_batch_end, step);
  }
  if (step % many != 0) callbacks.call(&Callback::on_predict_batch_end, step - 1);
}

DISTRIBUTE_INLINE std::vector<Tensor> Model::predict_all(const data::Dataset& data,
                                                         const PredictOptions& options,
                                                         bool all_outputs) {
  require_steps(data, options.steps, "predict", "steps");
  const ScopeUnlessCurrent scope(strategy_);
  const CallbackList callbacks(options.callbacks, *this, {.steps = options.steps});
  Predictions results;
  run_on_all_workers(*this, [&] {
    build(data.element_spec());
    stop_predicting_ = false;
    callbacks.call(&Callback::on_predict_begin);
    if (coordinated_)
      predict_on_workers(data, callbacks, options.steps, all_outputs, results);
    else
      predict_here(data, callbacks, options.steps, all_outputs, results);
    if (results.empty()) throw InvalidArgumentError("predict: the data has no examples");
    callbacks.call(&Callback::on_predict_end);
  });
  std::vector<Tensor> joined;
  for (const std::vector<Tensor>& one : results) joined.push_back(concat(one, 0));
  return joined;
}

DISTRIBUTE_INLINE std::vector<Tensor> Model::predict_parts(const data::Batch& batch,
                                                           bool all_outputs) {
  if (!all_outputs) return {predict_step(train_internal::by_position(module_, batch))};
  const auto outputs = (*named_)(train_internal::named_batch(*named_, batch).inputs);
  std::vector<Tensor> ordered;
  for (const std::string& name : named_->output_names()) ordered.push_back(outputs.at(name));
  return ordered;
}

DISTRIBUTE_INLINE Tensor Model::predict(const data::Dataset& data, const PredictOptions& options) {
  return predict_all(data, options, false).at(0);
}

}  // namespace distribute::train
