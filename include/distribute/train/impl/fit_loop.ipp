#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/detail/coordinated_steps.hpp>
#include <distribute/train/elastic_loop.hpp>
#include <distribute/train/fit_loop.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE void run_on_all_workers(Model& model, const std::function<void()>& loop) {
  try {
    loop();
  } catch (...) {
    model.strategy().extended().report_failure(std::current_exception());
    throw;
  }
}

DISTRIBUTE_INLINE Logs TestLoop::run(const CallbackList& callbacks) {
  StepMeans means;
  model_.unread_.clear();
  model_.reset_metrics();
  model_.stop_evaluating_ = false;
  callbacks.call(&Callback::on_test_begin);
  Logs logs = workers_ ? run_on_workers(callbacks, means) : run_here(callbacks, means);
  if (means.examples() == 0) throw InvalidArgumentError("evaluate: the data has no examples");
  model_.add_metrics(logs);
  model_.reset_metrics();
  callbacks.call(&Callback::on_test_end, logs);
  return logs;
}

DISTRIBUTE_INLINE Logs TestLoop::run_on_workers(const CallbackList& callbacks, StepMeans& means) {
  callbacks.call(&Callback::on_test_batch_begin, 0);
  const int64_t steps = workers_->run(model_.step_order(false), steps_, means);
  Logs logs = means.means();
  callbacks.call(&Callback::on_test_batch_end, steps - 1, logs);
  return logs;
}

DISTRIBUTE_INLINE Logs TestLoop::run_here(const CallbackList& callbacks, StepMeans& means) {
  auto iterator = data_->iterator();
  Logs logs;
  for (int64_t first = 0; !model_.stop_evaluating_ && (!steps_ || first < *steps_);) {
    int64_t end = first + model_.steps_per_execution(), step = first;
    if (steps_) end = std::min(end, *steps_);
    for (; step < end; ++step) {
      const auto batch = iterator.get_next_as_optional();
      if (!batch) break;
      if (step == first) callbacks.call(&Callback::on_test_batch_begin, step);
      model_.run_step(*batch, false);
    }
    if (step == first) break;
    model_.add_figures(means);
    logs = means.means();
    if (callbacks.wants_batch_metrics()) model_.add_metrics(logs);
    callbacks.call(&Callback::on_test_batch_end, step - 1, logs);
    first = step;
  }
  return logs;
}

DISTRIBUTE_INLINE FitLoop::FitLoop(Model& model, const InputData& data, const FitOptions& options)
    : model_(model), options_(options) {
  check_options(data);
  take_data(data);
  begin_pass();
  model_.means_.reset();
  model_.unread_.clear();
  model_.stop_training_ = false;
  model_.start_.reset();
  callbacks_.emplace(all_callbacks(data), model_,
                     CallbackParams{.epochs = options.epochs,
                                    .steps = options.steps_per_epoch,
                                    .has_validation = options.validation_data.has_value()});
  model_.callbacks_ = &*callbacks_;
}
DISTRIBUTE_INLINE FitLoop::~FitLoop() { model_.callbacks_ = nullptr; }

DISTRIBUTE_INLINE void FitLoop::check_options(const InputData& data) const {
  const FitOptions& options = options_;
  if (options.epochs < 0 || options.initial_epoch < 0)
    throw InvalidArgumentError(
        str_cat("fit: epochs and initial_epoch must be at least 0; they are ", options.epochs,
                " and ", options.initial_epoch));
  require_steps(data, options.steps_per_epoch, "fit", "steps_per_epoch");
  if (options.validation_data)
    require_steps(*options.validation_data, options.validation_steps, "fit: the validation data",
                  "validation_steps");
}

DISTRIBUTE_INLINE void FitLoop::take_data(const InputData& data) {
  if (train_internal::CoordinatedSteps* steps = model_.coordinated_.get()) {
    using train_internal::CoordinatedLoop;
    workers_ = std::make_unique<CoordinatedLoop>(*steps, data);
    if (options_.validation_data)
      validating_ = std::make_unique<CoordinatedLoop>(*steps, *options_.validation_data);
    return model_.build_for_workers(workers_->element_spec());
  }
  if (!is_elastic(model_.strategy())) {
    data_ = model_.distribute(data);
    return model_.build(data_->element_spec());
  }
  for (const InputData* one :
       {&data, options_.validation_data ? &*options_.validation_data : &data})
    if (!std::holds_alternative<data::Dataset>(one->data()))
      throw InvalidArgumentError(
          "fit: where workers may change it divides the data itself, again and again: give a "
          "Dataset of global batches, and not one that is divided already");
  global_data_ = std::get<data::Dataset>(data.data());
  model_.build(global_data_->element_spec());
}

DISTRIBUTE_INLINE void FitLoop::begin_pass() {
  if (workers_) return workers_->rewind();
  model_.iterator_ = std::make_unique<FitIterator>(
      data_ ? FitIterator(data_->iterator())
            : FitIterator(ElasticIterator(model_.strategy(), *global_data_)));
}

/// Returns the user's callbacks, then the display, then the history, which sees the values of all
/// others.
DISTRIBUTE_INLINE std::vector<CallbackHandle> FitLoop::all_callbacks(const InputData& data) {
  std::vector<CallbackHandle> all = options_.callbacks;
  steps_of_epoch_ = options_.steps_per_epoch;
  if (const auto* whole = std::get_if<data::Dataset>(&data.data()))
    if (!steps_of_epoch_ && whole->cardinality() > 0) steps_of_epoch_ = whole->cardinality();
  Verbose verbose = options_.verbose;
  if (verbose == Verbose::Auto && workers_) verbose = Verbose::Epochs;
  if (verbose != Verbose::Silent)
    all.emplace_back(ProgressLogger({.verbose = verbose, .batches = steps_of_epoch_}));
  all.emplace_back(history_);
  return all;
}

/// Returns the state with which a worker continues in the middle of an epoch.
DISTRIBUTE_INLINE CheckpointParts FitLoop::state() {
  CheckpointParts parts = model_.training_state();
  parts.emplace_back(
      "position", TensorState{[this] {
                                return Tensor(Shape{3},
                                              std::vector<int64_t>{position_.epoch, position_.batch,
                                                                   position_.fresh});
                              },
                              [this](const Tensor& saved) {
                                const auto numbers = saved.data<int64_t>();
                                position_ = {numbers[0], numbers[1], numbers[2] != 0};
                              },
                              false});
  return parts;
}

DISTRIBUTE_INLINE History FitLoop::run() {
  callbacks_->begin_training();
  const auto start = model_.start_.value_or(Model::Start{options_.initial_epoch, 0});
  position_ = {start.epoch, start.batch, !model_.start_ || start.batch > 0};
  pace_ = train_internal::RunPace(start.epoch * steps_of_epoch_.value_or(0) + start.batch);
  ElasticLoop loop(model_.strategy(), state(), model_.optimizer().iterations_variable());
  loop_ = &loop;
  history_.end = loop.run([this] { go_on(); });
  if (options_.epochs > 0)
    model_.optimizer().finalize_variable_values(model_.module().trainable_variables());
  Logs last;
  for (const auto& [name, values] : history_.history) last.set(name, values.back());
  callbacks_->call(&Callback::on_train_end, last);
  model_.iterator_.reset();
  return std::move(history_);
}

DISTRIBUTE_INLINE void FitLoop::go_on() {
  model_.local_batch_ = -1;  // the workers' shares are others
  model_.unread_.clear();    // of an execution that was broken off
  updates_ = model_.optimizer().iterations();
  if (options_.validation_data && !validating_)
    validation_data_ = model_.distribute_for_test(*options_.validation_data);
  if (model_.start_ && model_.stop_training_) return;  // had been stopped before the interruption
  while (position_.epoch < options_.epochs) {
    epoch(position_.epoch, position_.batch);
    if (model_.stop_training_ || out_of_data_) break;
    position_ = {position_.epoch + 1, 0, options_.steps_per_epoch.has_value()};
  }
}

DISTRIBUTE_INLINE void FitLoop::epoch(int64_t number, int64_t first_batch) {
  const bool continues = first_batch > 0;
  if (!options_.steps_per_epoch && !position_.fresh) begin_pass();
  position_.fresh = true;
  if (!continues) {
    model_.reset_metrics();
    model_.means_.reset();
  }
  callbacks_->call(&Callback::on_epoch_begin, number);
  const int64_t trained = workers_ ? batches_on_workers(first_batch) : batches(first_batch);
  if (trained == 0 && !continues) {
    if (out_of_data_) return;
    throw InvalidArgumentError("fit: the data has no elements");
  }
  if (!steps_of_epoch_) steps_of_epoch_ = first_batch + trained;
  Logs logs = model_.means_.means();
  model_.add_metrics(logs);
  if (options_.validation_data && options_.validation_freq.is_due(number)) validate(number, logs);
  callbacks_->call(&Callback::on_epoch_end, number, logs);
}

DISTRIBUTE_INLINE void FitLoop::show_pace(const Logs& logs) {
  const int64_t steps = steps_of_epoch_.value_or(0);
  const auto total = steps_of_epoch_ ? std::optional(steps * options_.epochs) : std::nullopt;
  pace_.step_done(position_.epoch * steps + position_.batch, total, logs);
}

/// Batches whose gradients are only collected belong to the update that follows.
DISTRIBUTE_INLINE void FitLoop::commit() {
  if (!global_data_) return;
  model_.add_figures(model_.means_);
  const int64_t before = std::exchange(updates_, model_.optimizer().iterations());
  if (updates_ != before) loop_->commit();
}

DISTRIBUTE_INLINE int64_t FitLoop::batches(int64_t first) {
  const bool wants_metrics = callbacks_->wants_batch_metrics();
  int64_t batch = first;
  data_ended_ = false;
  while (!data_ended_ && (!options_.steps_per_epoch || batch < *options_.steps_per_epoch)) {
    const int64_t end = execution(batch);
    if (end == batch) break;
    batch = end;
    model_.add_figures(model_.means_);
    Logs logs = model_.means_.means();
    if (wants_metrics) model_.add_metrics(logs);
    callbacks_->call(&Callback::on_train_batch_end, batch - 1, logs);
    show_pace(logs);
    commit();
    if (model_.stop_training_) break;
  }
  return batch - first;
}

DISTRIBUTE_INLINE int64_t FitLoop::batches_on_workers(int64_t first) {
  std::optional<int64_t> left;
  if (options_.steps_per_epoch) left = *options_.steps_per_epoch - first;
  callbacks_->call(&Callback::on_train_batch_begin, first);
  const int64_t steps = workers_->run(model_.step_order(true), left, model_.means_);
  position_.batch = first + steps;
  if (left && steps < *left) note_end_of_data(first + steps);
  if (steps == 0) return 0;
  model_.global_batch_ = model_.means_.examples() / steps;
  Logs logs = model_.means_.means();
  callbacks_->call(&Callback::on_train_batch_end, first + steps - 1, logs);
  show_pace(logs);
  return steps;
}

DISTRIBUTE_INLINE int64_t FitLoop::execution(int64_t first) {
  int64_t end = first + model_.steps_per_execution();
  if (options_.steps_per_epoch) end = std::min(end, *options_.steps_per_epoch);
  for (int64_t batch = first; batch < end; ++batch) {
    if (batch > first) commit();
    const auto element = model_.iterator_->next_if_any();
    if (!element) {
      note_end_of_data(batch);
      return batch;
    }
    position_.batch = batch + 1;
    if (batch == first) callbacks_->call(&Callback::on_train_batch_begin, batch);
    model_.run_step(*element, true);
  }
  return end;
}

DISTRIBUTE_INLINE void FitLoop::note_end_of_data(int64_t batch) {
  data_ended_ = true;
  out_of_data_ = options_.steps_per_epoch.has_value();
  if (out_of_data_ && model_.is_chief())
    log_warning("train", str_cat("the data ended after ", batch, " of ", *options_.steps_per_epoch,
                                 " steps of an epoch; training ends. Use `.repeat()`"));
}

/// Validates; the training metrics are in `logs` by now, so their objects may serve the validation.
DISTRIBUTE_INLINE void FitLoop::validate(int64_t, Logs& logs) {
  if (validating_) validating_->rewind();
  TestLoop test = validating_ ? TestLoop(model_, *validating_, options_.validation_steps)
                              : TestLoop(model_, *validation_data_, options_.validation_steps);
  for (const auto& [name, value] : test.run(*callbacks_)) logs.set("val_" + name, value);
}

}  // namespace distribute::train
