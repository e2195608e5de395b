#include "training.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

namespace dist = distribute;

namespace examples {

namespace {

int64_t steps_of(const TrainerOptions& o, const Task& task) {
  const int64_t examples = task.training_examples;
  if (o.batch_size > examples)
    throw dist::UsageError(
        dist::str_cat("--batch_size=", o.batch_size, " is larger than the training data, ",
                      examples, " ", task.examples, o.data_dir.empty() ? "" : " in " + o.data_dir));
  if (o.steps > 0) return o.steps;
  return dist::train::steps_of_epochs(o.epochs, examples,
                                      o.batch_size * std::max(o.sync_replicas, 1));
}

TrainerOptions with_warmup(TrainerOptions o, const Task& task, int64_t steps) {
  if (!given("warmup_steps") && task.warmup_epochs > 0)
    o.warmup_steps = dist::train::warmup_steps_of_epochs(task.warmup_epochs, task.training_examples,
                                                         o.batch_size, steps);
  return o;
}

}  // namespace

Training::Training(const TrainerOptions& o, dist::Strategy& with_strategy,
                   const MakeTask& make_task)
    : options(o),
      strategy(with_strategy),
      scope(strategy),
      task(make_task()),
      model(*task.model),
      total_steps(steps_of(o, task)),
      optimizer(make_optimizer(with_warmup(o, task, total_steps), total_steps)),
      loss_scale(o.policy == "mixed_float16"
                     ? std::make_unique<dist::optim::LossScaleOptimizer>(*optimizer)
                     : nullptr),
      outputs({.loss_csv = o.loss_csv, .logdir = o.logdir}) {}

namespace {

/// Adds the summary of a dataset, one line of it for each of its parts.
void agree_on_data(dist::AgreedOptions& all, const std::string& name,
                   const dist::data::Dataset& dataset) {
  std::istringstream lines(dist::data::data_summary(*dataset.node()));
  int number = 0;
  for (std::string line; std::getline(lines, line);)
    all[name + (number++ ? dist::str_cat(", part ", number) : "")] = line;
}

}  // namespace

std::string agreed_text(const Training& training, bool shares_test) {
  dist::AgreedOptions all = agreed_options(training.options);
  agree_on_data(all, "data", training.task.training);
  if (shares_test) agree_on_data(all, "test data", training.task.test);
  return dist::options_text(all);
}

void Training::build_model() {
  std::vector<int64_t> one = task.input.shape;
  one[0] = 1;
  model(dist::zeros(dist::Shape(one), task.input.dtype));
}

dist::Trackable& Training::saved_optimizer() {
  if (loss_scale) return *loss_scale;
  return *optimizer;
}

void Training::log_input(int64_t step) {
  if (!task.statistics) return;
  for (const auto& [name, value] : task.statistics->scalars()) outputs.scalar(name, value, step);
}

void Training::report_input(dist::train::RunReport& report) {
  if (!task.statistics) return;
  for (const dist::data::StageStatistics& stage : task.statistics->stages())
    if (stage.name == "step") report.input_wait_share = stage.wait_share();
  if (report.input_wait_share) input_told = task.statistics->summary();
}

void Training::with_averages(const std::function<void()>& fn) {
  const bool averaged = options.ema_decay > 0;
  if (averaged) optimizer->swap_averages(model.trainable_variables());
  fn();
  if (averaged) optimizer->swap_averages(model.trainable_variables());
}

double seconds_now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace examples
