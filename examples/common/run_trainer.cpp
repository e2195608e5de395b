#include "run_trainer.hpp"

#include "choose_way.hpp"
#include "elastic_workers.hpp"
#include "horovod.hpp"
#include "managed_job.hpp"
#include "test_run.hpp"

#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>

// Object stores, platforms, metrics and SavedModels become part of the trainers.
#include <distribute/metrics.hpp>
#include <distribute/object_stores.hpp>
#include <distribute/platforms.hpp>
#include <distribute/saved_model.hpp>

#include <cstdio>
#include <exception>

namespace dist = distribute;
using dist::train::OutputKind;

namespace examples {

namespace {

std::vector<dist::train::OutputPath> outputs_of(const TrainerOptions& o) {
  return {{"--checkpoint_dir", o.checkpoint_dir, OutputKind::Directory},
          {"--logdir", o.logdir, OutputKind::Directory},
          {"--final_checkpoint", o.final_checkpoint, OutputKind::Prefix},
          {"--export_dir", o.export_dir, OutputKind::Alone},
          {"--export_onnx", o.export_onnx},
          {"--loss_csv", o.loss_csv},
          {"--json", o.json.value.value_or("")}};
}

/// What is written at the end can be written: better to know before the training.
void check_outputs(const TrainerOptions& o) {
  if (!given("final_checkpoint")) make_parent(o.final_checkpoint);  // of the service
  check_output_paths(outputs_of(o));
  if (!o.export_dir.empty()) dist::saved_model::check_path(o.export_dir);
}

/// --export_dir and --export_onnx; gives the sample, on the chief.
std::string use_model(Training& training, bool is_chief) {
  const auto& o = training.options;
  const dist::data::TensorSpec& input = training.task.input;
  std::string sample;
  training.with_averages([&] {
    if (!o.export_dir.empty())
      dist::saved_model::save(training.model, o.export_dir, {.input = input});
    if (!o.export_onnx.empty())
      dist::saved_model::export_onnx(training.model, o.export_onnx, {.input = input});
    if (is_chief && training.task.sample)
      sample = "\n" + training.task.sample(training.model) + "\n";
  });
  return sample;
}

/// The report of a task that has a result to report.
struct Result {
  std::optional<int> status;  // of a task without one
  bool is_chief = false;
  std::string told = {};  // at the end, for people
};

Result train(const TrainerOptions& options, dist::Strategy& strategy, const MakeTask& make_task,
             dist::train::RunReport& report) {
  Training training(options, strategy, make_task);
  const auto way = choose_way(training);
  if (way->is_chief()) {
    check_output_stores(outputs_of(options));
    dist::train::check_hypertune();
  }
  way->prepare();
  if (const auto status = way->run(report)) return {.status = status};
  const std::string sample = way->saves() ? use_model(training, way->is_chief()) : "";
  training.outputs.close();
  if (const auto& left_out = training.task.left_out; left_out && !left_out->summary().empty())
    dist::log_warning("trainer", left_out->summary());
  return {.status = {}, .is_chief = way->is_chief(), .told = training.input_told + sample};
}

void check_policy(const TrainerOptions& o, const std::string& strategy) {
  if (o.policy != "mixed_float16") return;
  if (strategy == "parameter_server" || o.api == "horovod")
    throw dist::UsageError(
        "--policy=mixed_float16: a step that overflows is left out by all replicas at once, which "
        "parameter servers and --api=horovod do not; use mixed_bfloat16");
}

int train_and_report(const TrainerOptions& options, const MakeTask& make_task,
                     dist::train::ReportTarget* target) {
  const auto [cluster, strategy, name] = make_strategy(options);
  check_policy(options, name);
  const auto job = dist::ParameterServerJob::of(*strategy);
  if (job && job->is_parameter_server()) {
    // Told to go at the end of each job, also while the process ends.
    [[maybe_unused]] static const auto& without_a_word = *new dist::train::ExitOnTermination(false);
    return dist::Server(*strategy).join();
  }
  const bool alone = !cluster || !cluster->cluster_spec();  // else the job's runtime has written it
  const dist::ReadyFile ready(alone ? dist::ready_file_path() : "");
  dist::train::RunReport report;
  report.strategy = name;
  add_device(report, *strategy);
  report.policy = options.policy;
  report.global_batch = options.batch_size;
  const Result result = train(options, *strategy, make_task, report);
  if (result.status) return *result.status;
  add_memory(report, *strategy);
  if (options.api == "horovod") dist::hvd::shutdown();
  if (!result.is_chief) return dist::kExitDone;
  print_test(report, result.told, options.metric_lines);
  if (target) target->write(report);
  return dist::kExitDone;
}

int run(const TrainerOptions& options, const MakeTask& make_task,
        dist::train::ReportTarget* target) {
  const dist::train::ExitOnTermination exit_on_termination;
  dist::random::set_seed(options.seed);
  dist::nn::set_global_policy(options.policy);
  check_outputs(options);
  if (options.api == "horovod") {
    try {
      join_horovod(options);
    } catch (const dist::hvd::JobFinishedError&) {
      return too_late();
    }
  } else if (is_evaluator(options)) {
    return run_evaluator(options, make_task);
  }
  return train_and_report(options, make_task, target);
}

}  // namespace

int run_trainer(const TrainerOptions& options, const MakeTask& make_task) {
  std::optional<dist::train::ReportTarget> target;
  if (const std::string problem = misplaced_flag(options, options.strategy); !problem.empty())
    return usage_error(problem);
  if (const std::string problem = dist::LogOptions::from_environment().problem; !problem.empty())
    return usage_error(problem);
  if (options.json.value) target.emplace(*options.json.value);
  return run_reporting([&] { return run(options, make_task, target ? &*target : nullptr); });
}

int run_reporting(const std::function<int()>& run) {
  try {
    return dist::check_stdout(run());
  } catch (const std::exception& error) {
    std::fflush(stdout);
    const std::string text = dist::error_text(error);
    dist::log(dist::LogSeverity::Fatal, "trainer", text);
    dist::write_job_failure(text);
    return dist::exit_status(error);
  }
}

}  // namespace examples
