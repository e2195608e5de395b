#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/path.hpp>
#include <distribute/summary/file_writer.hpp>
#include <distribute/train/checkpoints_iterator.hpp>
#include <distribute/train/estimator.hpp>
#include <distribute/train/model_scope.hpp>
#include <distribute/train/stop_at_step_hook.hpp>

#include <memory>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE Estimator::Estimator(Model& model, EstimatorOptions options)
    : model_(model), options_(std::move(options)) {
  if (options_.model_dir.empty()) throw InvalidArgumentError("Estimator: model_dir is empty");
}

DISTRIBUTE_INLINE std::optional<std::string> Estimator::latest_checkpoint() const {
  return train::latest_checkpoint(options_.model_dir);
}

/// The hook that saves is the estimator's own where listeners follow it.
DISTRIBUTE_INLINE void Estimator::train(const InputFunction& input_fn,
                                        const EstimatorTrainOptions& options) {
  if (options.steps && options.max_steps)
    throw InvalidArgumentError("Can not provide both steps and max_steps.");
  const train_internal::ModelScope scope(model_.strategy());
  const DistributedDataset data = model_.distribute(input_fn());
  model_.build(data.element_spec());
  std::vector<SessionHookHandle> hooks = options.hooks;
  if (options.steps || options.max_steps)
    hooks.emplace_back(
        StopAtStepHook({.num_steps = options.steps, .last_step = options.max_steps}));
  SecondsOrSteps save = options_.save_checkpoints;
  if (!options.saving_listeners.empty())
    hooks.emplace_back(CheckpointSaverHook({.save = std::exchange(save, SecondsOrSteps{}),
                                            .listeners = options.saving_listeners,
                                            .clock = options_.clock}));
  MonitoredTrainingSession session({.is_chief = options_.is_chief,
                                    .checkpoint_dir = options_.model_dir,
                                    .parts = model_.checkpoint_parts(),
                                    .global_step = model_.optimizer().iterations_variable(),
                                    .hooks = std::move(hooks),
                                    .save_checkpoint = save,
                                    .save_summaries = options_.save_summary,
                                    .log_step_count_steps = options_.log_step_count_steps,
                                    .max_to_keep = options_.keep_checkpoint_max,
                                    .readiness = options_.readiness,
                                    .clock = options_.clock});
  auto iterator = std::make_unique<DistributedIterator>(data.iterator());
  while (!session.should_stop())
    session.run([&] { return model_.train_on_batch(iterator->get_next()); });
  session.close();
}

DISTRIBUTE_INLINE Logs Estimator::evaluate(const InputFunction& input_fn,
                                           const EstimatorEvaluateOptions& options) {
  std::string path = options.checkpoint_path;
  if (path.empty()) {
    const auto latest = latest_checkpoint();
    if (!latest)
      throw NotFoundError("Could not find trained model in model_dir: " + options_.model_dir);
    path = *latest;
  }
  const train_internal::ModelScope scope(model_.strategy());
  const InputData data = input_fn();
  model_.build(model_.distribute(data).element_spec());
  Checkpoint(model_.module()).restore(path).expect_partial();
  Logs logs = model_.evaluate(data, {.steps = options.steps});
  const int64_t step = checkpoint_number(path).value_or(0);
  logs.set("global_step", double(step));
  if (!model_.is_chief()) return logs;
  const std::string run = options.name.empty() ? "eval" : "eval_" + options.name;
  const auto writer = summary::create_file_writer(io::join_path(options_.model_dir, run));
  const auto writing = writer.as_default();
  for (const auto& [name, value] : logs)
    if (name != "global_step") summary::scalar(name, value, step);
  return logs;
}

}  // namespace distribute::train
