#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/detail/saved_versions.hpp>
#include <distribute/estimator/estimator.hpp>
#include <distribute/estimator/monitored_training_session.hpp>
#include <distribute/estimator/session_run_hook.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/summary/file_writer.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <regex.h>

namespace distribute::train_internal {

/// Runs the hooks of a session around batches of the model. The session runs no steps itself: it
/// begins, is created, and ends, and this callback reports the batches in between. A hook that
/// requests the end gets it after its batch.
class SessionCallback : public train::Callback {
 public:
  /// `session` must outlive this object.
  explicit SessionCallback(train::MonitoredTrainingSession& session) : session_(session) {}

  void on_test_batch_begin(int64_t, train::Logs&) override { before_run(); }
  DISTRIBUTE_INLINE void on_test_batch_end(int64_t, train::Logs& logs) override;
  void on_predict_batch_begin(int64_t, train::Logs&) override { before_run(); }
  DISTRIBUTE_INLINE void on_predict_batch_end(int64_t, train::Logs& logs) override;
  /// Hooks see the metrics of each batch.
  DISTRIBUTE_INLINE bool wants_batch_metrics() const override;

 private:
  void before_run();
  /// Calls the hooks; returns whether a hook of any worker requests the end.
  bool after_run(const train::Logs& logs);

  train::MonitoredTrainingSession& session_;
  std::optional<train::SessionRunContext> context_;  // context of the current batch
};

DISTRIBUTE_INLINE void SessionCallback::before_run() {
  context_.emplace(session_);
  for (const train::SessionHookHandle& hook : session_.options().hooks) hook->before_run(*context_);
}

DISTRIBUTE_INLINE bool SessionCallback::after_run(const train::Logs& logs) {
  const train::SessionRunValues values{logs, session_.global_step()};
  for (const train::SessionHookHandle& hook : session_.options().hooks)
    hook->after_run(*context_, values);
  return session_.any_worker(context_->stop_requested() || session_.should_stop());
}

DISTRIBUTE_INLINE void SessionCallback::on_test_batch_end(int64_t, train::Logs& logs) {
  if (after_run(logs)) model().stop_evaluating();
}

DISTRIBUTE_INLINE void SessionCallback::on_predict_batch_end(int64_t, train::Logs& logs) {
  if (after_run(logs)) model().stop_predicting();
}

DISTRIBUTE_INLINE bool SessionCallback::wants_batch_metrics() const {
  return !session_.options().hooks.empty();
}

/// Gives a model the values of a checkpoint for a while. Its own values return at the end, and
/// servers, whose variables others train, do not see the change.
class BorrowedModel {
 public:
  explicit BorrowedModel(train::Model& model)
      : here_(model.strategy().extended().keep_values_here()) {
    for (const Variable& variable : model.module().variables()) keep(variable);
  }
  ~BorrowedModel() {
    for (const auto& [variable, values] : kept_)
      for (size_t i = 0; i < values.size(); ++i) variable.impl().set_component(int(i), values[i]);
  }
  BorrowedModel(const BorrowedModel&) = delete;
  BorrowedModel& operator=(const BorrowedModel&) = delete;

 private:
  void keep(const Variable& variable) {
    VariableImpl& impl = variable.impl();
    const bool is_here =
        dynamic_cast<DistributedVariable*>(&impl) || dynamic_cast<PlainVariable*>(&impl);
    if (!is_here) return;
    std::vector<Tensor> values;
    for (int i = 0; i < impl.num_components(); ++i) values.push_back(impl.component(i));
    kept_.emplace_back(variable, std::move(values));
  }

  const std::shared_ptr<void> here_;
  std::vector<std::pair<Variable, std::vector<Tensor>>> kept_;
};

/// Prints "Evaluation [20/200]" after every tenth of the batches.
class EvaluationProgress : public train::Callback {
 public:
  EvaluationProgress(std::FILE* out, int64_t steps)
      : out_(out), steps_(steps), every_(steps < 20 ? 1 : steps / 10) {}
  void on_test_batch_end(int64_t batch, train::Logs&) override {
    const int64_t done = batch + 1;
    if (done % every_ == 0 || done == steps_)
      print_line(out_, str_cat("Evaluation [", done, "/", steps_, "]"));
  }
  bool wants_batch_metrics() const override { return false; }

 private:
  std::FILE* out_;
  int64_t steps_, every_;
};

/// The local time in a format of strftime.
DISTRIBUTE_INLINE std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = "";
  if (::localtime_r(&now, &parts)) std::strftime(text, sizeof text, format, &parts);
  return text;
}

/// "accuracy = 0.9, global_step = 200, loss = 0.25", in the order of the names.
DISTRIBUTE_INLINE std::string sorted_figures(const train::Logs& logs) {
  const std::map<std::string, double> sorted(logs.begin(), logs.end());
  std::string text;
  for (const auto& [name, value] : sorted)
    text += str_cat(text.empty() ? "" : ", ", name, " = ",
                    name == "global_step" ? std::to_string(int64_t(value)) : figure_text(value));
  return text;
}

DISTRIBUTE_INLINE void require_positive(const char* name, const std::optional<int64_t>& value) {
  if (value && *value <= 0)
    throw InvalidArgumentError(str_cat("Must specify ", name, " > 0, given: ", *value));
}

/// A POSIX extended regular expression for names.
class NamePattern {
 public:
  explicit NamePattern(const std::string& text) {
    char reason[256];
    if (const int error =
            ::regcomp(&regex_, ("^(" + text + ")").c_str(), REG_EXTENDED | REG_NOSUB)) {
      ::regerror(error, &regex_, reason, sizeof reason);
      throw InvalidArgumentError(str_cat("Estimator: vars_to_warm_start '", text, "': ", reason));
    }
  }
  NamePattern(const NamePattern&) = delete;
  ~NamePattern() { ::regfree(&regex_); }
  bool begins(const std::string& name) const {
    return ::regexec(&regex_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_{};
};

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE Estimator::Estimator(Model& model, EstimatorOptions options)
    : model_(model), options_(std::move(options)) {
  if (options_.model_dir.empty()) throw InvalidArgumentError("Estimator: model_dir is empty");
  model_.run_without_coordinator();
}

DISTRIBUTE_INLINE std::optional<std::string> Estimator::latest_checkpoint() const {
  return train::latest_checkpoint(options_.model_dir);
}

DISTRIBUTE_INLINE void Estimator::train(const InputFunction& input_fn,
                                        const EstimatorTrainOptions& options) {
  if (options.steps && options.max_steps)
    throw InvalidArgumentError("Can not provide both steps and max_steps.");
  train_internal::require_positive("steps", options.steps);
  train_internal::require_positive("max_steps", options.max_steps);
  const ScopeUnlessCurrent scope(model_.strategy());
  if (options.max_steps && has_trained(*options.max_steps))
    return tell("Skipping training since max_steps has already saved.");
  const DistributedDataset data = model_.distribute(input_fn());
  model_.build(data.element_spec());
  std::vector<SessionHookHandle> hooks = options.hooks;
  if (options.steps || options.max_steps)
    hooks.emplace_back(
        StopAtStepHook({.num_steps = options.steps, .last_step = options.max_steps}));
  std::vector<SessionHookHandle> chief_hooks;
  if (options_.log_step_count_steps && options_.out)
    chief_hooks.emplace_back(LoggingTensorHook({.tensors = {"loss"},
                                                .every = {.steps = options_.log_step_count_steps},
                                                .out = options_.out,
                                                .clock = options_.clock}));
  MonitoredTrainingSession session({.is_chief = options_.is_chief,
                                    .checkpoint_dir = options_.model_dir,
                                    .parts = model_.checkpoint_parts(),
                                    .global_step = model_.optimizer().iterations_variable(),
                                    .hooks = std::move(hooks),
                                    .chief_only_hooks = std::move(chief_hooks),
                                    .save_checkpoint = options_.save_checkpoints,
                                    .saving_listeners = options.saving_listeners,
                                    .save_summaries = options_.save_summary,
                                    .log_step_count_steps = options_.log_step_count_steps,
                                    .max_to_keep = options_.keep_checkpoint_max,
                                    .init_fn = [this] { warm_start(); },
                                    .readiness = options_.readiness,
                                    .out = options_.out,
                                    .clock = options_.clock});
  auto iterator = std::make_unique<DistributedIterator>(data.iterator());
  if (session.should_stop()) {
    if (session.is_chief())
      train_internal::print_line(options_.out,
                                 "Skipping training since max_steps has already saved.");
    return session.close();
  }
  std::optional<double> loss;
  while (!session.should_stop()) {
    const Logs figures = session.run([&] { return model_.train_on_batch(iterator->get_next()); });
    if (const double* now = figures.find("loss")) loss = *now;
  }
  session.close();
  if (loss && session.is_chief())
    train_internal::print_line(options_.out,
                               "Loss for final step: " + train_internal::figure_text(*loss) + ".");
}

DISTRIBUTE_INLINE void Estimator::tell(const std::string& line) const {
  if (model_.is_chief()) train_internal::print_line(options_.out, line);
}

DISTRIBUTE_INLINE bool Estimator::has_trained(int64_t max_steps) const {
  if (options_.readiness || ParameterServerJob::of(model_.strategy())) return false;
  const auto latest = latest_checkpoint();
  const bool here = latest && checkpoint_number(*latest).value_or(0) >= max_steps;
  StrategyExtended& extended = model_.strategy().extended();
  if (extended.input_context().num_input_pipelines() == 1) return here;
  return extended.any_worker(here && model_.is_chief());
}

DISTRIBUTE_INLINE std::string Estimator::eval_dir(const std::string& name) const {
  return io::join_path(options_.model_dir, name.empty() ? "eval" : "eval_" + name);
}

DISTRIBUTE_INLINE std::string Estimator::checkpoint_to_read(const std::string& given) const {
  if (!given.empty()) return given;
  const auto latest = latest_checkpoint();
  if (!latest)
    throw NotFoundError("Could not find trained model in model_dir: " +
                        why_no_checkpoint(options_.model_dir));
  return *latest;
}

DISTRIBUTE_INLINE void Estimator::restore(const std::string& checkpoint) {
  Checkpoint(model_.module()).restore(checkpoint).expect_partial();
}

/// Restores chosen variables by their names, or all variables by the tree of objects.
DISTRIBUTE_INLINE void Estimator::warm_start() {
  if (options_.warm_start_from.empty()) return;
  const std::string from =
      train::latest_checkpoint(options_.warm_start_from).value_or(options_.warm_start_from);
  tell("Warm-starting from: " + options_.warm_start_from);
  const auto& old_names = options_.var_name_to_prev_var_name;
  if (options_.vars_to_warm_start == ".*" && old_names.empty()) return restore(from);
  const train_internal::NamePattern wanted(options_.vars_to_warm_start);
  std::vector<Variable> variables = model_.module().variables();
  std::erase_if(variables,
                [&](const Variable& variable) { return !wanted.begins(variable.name()); });
  load_weights(from, variables, {.name_in_file = [&](const std::string& name) {
                 const auto found = old_names.find(name);
                 return found == old_names.end() ? name : found->second;
               }});
}

DISTRIBUTE_INLINE std::vector<std::string> Estimator::get_variable_names() const {
  BundleReader reader(checkpoint_to_read(""));
  std::vector<std::string> names;
  for (const auto& [name, keys] : weight_keys(reader)) names.push_back(name);
  return names;
}

DISTRIBUTE_INLINE Tensor Estimator::get_variable_value(const std::string& name) const {
  BundleReader reader(checkpoint_to_read(""));
  return read_tensor(reader, weight_key(weight_keys(reader), name, reader.prefix()));
}

DISTRIBUTE_INLINE MonitoredTrainingSessionOptions Estimator::session_of_hooks(
    const std::vector<SessionHookHandle>& hooks, const std::string& checkpoint) const {
  return {.is_chief = options_.is_chief,
          .global_step = make_counter("global_step", checkpoint_number(checkpoint).value_or(0)),
          .hooks = hooks,
          .save_checkpoint = {},
          .save_summaries = {},
          .log_step_count_steps = {},
          .clock = options_.clock};
}

DISTRIBUTE_INLINE void Estimator::write_figures(const Logs& figures, int64_t step,
                                                const std::string& name) const {
  if (!model_.is_chief()) return;
  const auto writer = summary::create_file_writer(eval_dir(name));
  const auto writing = writer.as_default();
  for (const auto& [figure, value] : figures) summary::scalar(figure, value, step);
  writer.close();  // throws where the destructor would only warn
}

DISTRIBUTE_INLINE Logs Estimator::evaluate(const InputFunction& input_fn,
                                           const EstimatorEvaluateOptions& options) {
  train_internal::require_positive("steps", options.steps);
  const ScopeUnlessCurrent scope(model_.strategy());
  const std::string path = checkpoint_to_read(options.checkpoint_path);
  const InputData data = input_fn();
  model_.build(model_.distribute(data).element_spec());
  const train_internal::BorrowedModel borrowed(model_);
  tell("Starting evaluation at " + train_internal::local_time("%Y-%m-%dT%H:%M:%S"));
  const double began = steady_seconds(options_.clock);
  tell("Restoring parameters from " + path);
  restore(path);
  MonitoredTrainingSession session(session_of_hooks(options.hooks, path));
  std::vector<CallbackHandle> callbacks = {train_internal::SessionCallback(session)};
  if (options.steps && model_.is_chief())
    callbacks.emplace_back(train_internal::EvaluationProgress(options_.out, *options.steps));
  Logs logs = model_.evaluate(data, {.steps = options.steps, .callbacks = std::move(callbacks)});
  session.close();
  tell("Inference Time : " + train_internal::fixed_text(steady_seconds(options_.clock) - began, 5) +
       "s");
  tell("Finished evaluation at " + train_internal::local_time("%Y-%m-%d-%H:%M:%S"));
  write_figures(logs, session.global_step(), options.name);
  logs.set("global_step", double(session.global_step()));
  tell(str_cat("Saving dict for global step ", session.global_step(), ": ",
               train_internal::sorted_figures(logs)));
  return logs;
}

DISTRIBUTE_INLINE Tensor Estimator::predict(const InputFunction& input_fn,
                                            const EstimatorPredictOptions& options) {
  const ScopeUnlessCurrent scope(model_.strategy());
  const std::string path = checkpoint_to_read(options.checkpoint_path);
  const InputData data = input_fn();
  const auto* whole = std::get_if<data::Dataset>(&data.data());
  if (!whole)
    throw InvalidArgumentError(
        "Estimator.predict: input_fn gave data that is divided among the replicas; give the "
        "Dataset itself, as predictions have its order");
  model_.build(whole->element_spec());
  const train_internal::BorrowedModel borrowed(model_);
  tell("Restoring parameters from " + path);
  restore(path);
  MonitoredTrainingSession session(session_of_hooks(options.hooks, path));
  const Tensor predictions =
      model_.predict(*whole, {.callbacks = {train_internal::SessionCallback(session)}});
  session.close();
  return predictions;
}

DISTRIBUTE_INLINE std::string Estimator::export_saved_model(const std::string& export_dir_base,
                                                            const EstimatorExportOptions& options) {
  const ScopeUnlessCurrent scope(model_.strategy());
  const std::string checkpoint = checkpoint_to_read(options.checkpoint_path);
  if (options.save.input) model_.build({*options.save.input});
  const train_internal::BorrowedModel borrowed(model_);
  tell("Restoring parameters from " + checkpoint);
  restore(checkpoint);
  const std::string path = train_internal::new_version_path(model_, export_dir_base);
  model_.save(path, options.save);
  tell("SavedModel written to: " + io::join_path(path, "saved_model.pb"));
  return path;
}

}  // namespace distribute::train
