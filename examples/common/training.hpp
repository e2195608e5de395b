#pragma once
/// What every run has, whatever the way to train: network, data, optimizer and files of figures.

#include "build.hpp"
#include "options.hpp"
#include "outputs.hpp"

#include <distribute/distribute.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace examples {

/// What an example brings: a network and its data. Labels are integers.
struct Task {
  std::unique_ptr<distribute::nn::Module> model;  // gives logits
  distribute::data::TensorSpec input;             // [-1, height, width, channels]
  int64_t training_examples = 0;                  // one epoch
  distribute::data::Dataset training;             // batches of the global size, round and round
  distribute::data::Dataset test;                 // batches; every example once
  std::string examples = "images";                // what messages call them
  int64_t labels = 1;  // of an example; with more speed is told in tokens, the loss as perplexity
  bool top_5 = false;  // report whether the label is among five, too
  double warmup_epochs = 0;  // where --warmup_steps is not given
  std::shared_ptr<distribute::data::BadPictures> left_out = {};  // told at the end, if any
  distribute::data::PipelineStatisticsPtr statistics = {};       // of `training`; told at the end
  /// What the trained network makes, printed at the end. May be unset.
  std::function<std::string(distribute::nn::Module&)> sample = {};
};

/// Called in the strategy's scope.
using MakeTask = std::function<Task()>;

/// Of a clock that only goes forward.
double seconds_now();

struct Training {
  /// Reads the data and makes the model, in the strategy's scope.
  /// Throws  distribute::Error for data that cannot be used.
  Training(const TrainerOptions& options, distribute::Strategy& strategy,
           const MakeTask& make_task);

  /// Makes the weights, so that they can be loaded and counted before the first step.
  void build_model();
  /// With its loss scale, where it has one: what a checkpoint holds.
  distribute::Trackable& saved_optimizer();
  /// What `iterator` gives next. The wait is counted under the stage "step": all that the training
  /// loop loses to its input.
  template <typename Iterator>
  auto next_of(Iterator& iterator) {
    const double begin = seconds_now();
    auto batch = iterator.get_next();
    if (task.statistics)
      task.statistics->add(task.statistics->stage("step"), begin, seconds_now(), true);
    return batch;
  }
  /// The speed of each stage of the input, for TensorBoard.
  void log_input(int64_t step);
  /// The same for report and `input_told`; a task that has read nothing itself tells nothing.
  void report_input(distribute::train::RunReport& report);
  /// Calls `fn` while the model has the averages of its weights, where they are kept.
  void with_averages(const std::function<void()>& fn);

  const TrainerOptions options;
  distribute::Strategy& strategy;
  const distribute::Scope scope;
  Task task;
  distribute::nn::Module& model;
  const int64_t total_steps;
  const std::unique_ptr<distribute::optim::Optimizer> optimizer;
  // Null unless --policy=mixed_float16.
  const std::unique_ptr<distribute::optim::LossScaleOptimizer> loss_scale;
  Outputs outputs;
  std::string input_told;  // for people: speed and wait of each stage of the input pipeline
};

/// Flags and data, which must be equal on all tasks of a job, for distribute::check_same_options.
/// The test's data is among them if the tasks share its batches.
std::string agreed_text(const Training& training, bool shares_test = false);

}  // namespace examples
