#include "trainer.hpp"

#include "managed_job.hpp"
#include "process_stats.hpp"

// Object stores, platforms, metrics and SavedModels become part of the trainers.
#include <distribute/metrics.hpp>
#include <distribute/object_stores.hpp>
#include <distribute/platforms.hpp>
#include <distribute/saved_model.hpp>

#include <distribute/base/status.hpp>
#include <distribute/io/local_file_system.hpp>

#include <cstdio>
#include <exception>
#include <utility>

#include <unistd.h>

namespace dist = distribute;

namespace examples {

namespace {

/// The evaluator's program: the same network on one device, beside the training.
int run_evaluator(TrainerOptions options, const MakeTask& make_task) {
  const std::string checkpoint_dir = std::exchange(options.checkpoint_dir, "");
  if (checkpoint_dir.empty())
    throw dist::InvalidArgumentError(
        "evaluator: --checkpoint_dir must name the directory where the chief saves");
  for (std::string* unused :
       {&options.final_checkpoint, &options.init_checkpoint, &options.loss_csv})
    unused->clear();
  if (!options.logdir.empty()) options.logdir = dist::io::join_path(options.logdir, "eval");
  const dist::ReadyFile ready(dist::ready_file_path());
  dist::OneDeviceStrategy strategy("/cpu:0");
  RunReport report;
  Trainer(options, strategy, make_task).follow(checkpoint_dir, report);
  return dist::kExitDone;
}

/// A SavedModel is a directory by itself, and two files need two names.
void check_apart(const TrainerOptions& o) {
  const std::pair<const char*, std::string> others[] = {{"checkpoint_dir", o.checkpoint_dir},
                                                        {"logdir", o.logdir},
                                                        {"final_checkpoint", o.final_checkpoint},
                                                        {"export_onnx", o.export_onnx},
                                                        {"loss_csv", o.loss_csv},
                                                        {"json", o.json.value_or("")}};
  for (const auto& [flag, path] : others) {
    if (lies_in(path, o.export_dir))
      throw dist::InvalidArgumentError(
          dist::str_cat("--", flag, "=", path, " lies in --export_dir=", o.export_dir,
                        ", which holds a SavedModel and nothing else: give another folder to one"));
    for (const auto& [other_flag, other] : others)
      if (flag != other_flag && path == other && !path.empty() && path != "-")
        throw dist::InvalidArgumentError(
            dist::str_cat("--", flag, " and --", other_flag, " are both ", path));
  }
}

/// The folder of a file that is written at the end.
void make_parent(const std::string& path) {
  const std::string directory = dist::io::directory_of(path);
  if (directory.empty() || path.find("://") != std::string::npos) return;
  dist::throw_if_error(dist::io::local_file_system().make_dirs(directory));
}

/// What is written at the end can be written: better to know before the training.
void check_outputs(const TrainerOptions& options) {
  check_apart(options);
  if (!given("final_checkpoint")) make_parent(options.final_checkpoint);  // of the service
  if (options.json && *options.json != "-") require_writable("json", *options.json);
  if (const std::string& folder = options.checkpoint_dir; access(folder.c_str(), F_OK) == 0)
    require_writable_directory("checkpoint_dir", folder, folder);  // else it is made
  if (!options.final_checkpoint.empty())
    require_writable("final_checkpoint", options.final_checkpoint);
  if (!options.export_dir.empty()) {
    dist::saved_model::check_path(options.export_dir);
    require_writable("export_dir", options.export_dir);
  }
  if (!options.export_onnx.empty()) require_writable("export_onnx", options.export_onnx);
}

/// The same for stores, of the task that writes.
void check_stores(const TrainerOptions& o) {
  for (const auto& [flag, directory] : {std::pair{"checkpoint_dir", o.checkpoint_dir},
                                        {"logdir", o.logdir},
                                        {"export_dir", o.export_dir}})
    require_writable_store(flag, directory, directory);
  for (const auto& [flag, file] : {std::pair{"json", o.json.value_or("")},
                                   {"final_checkpoint", o.final_checkpoint},
                                   {"export_onnx", o.export_onnx}})
    require_writable_store(flag, file, dist::io::directory_of(file));
}

/// Of a worker that an elastic job has no use for any more.
int too_late() {
  std::printf("the others have finished; nothing is left to do\n");
  return dist::kExitDone;
}

int run(const TrainerOptions& options, const MakeTask& make_task) {
  const dist::train::ExitOnTermination exit_on_termination;
  dist::random::set_seed(options.seed);
  dist::nn::set_global_policy(options.policy);
  check_outputs(options);
  std::unique_ptr<HorovodJob> horovod;
  try {
    horovod = HorovodJob::begin(options);
  } catch (const dist::hvd::JobFinishedError&) {
    return too_late();
  }
  if (!horovod && is_evaluator(options)) return run_evaluator(options, make_task);
  const auto [cluster, strategy, name] = make_strategy(options);
  const auto job = dist::ParameterServerJob::of(*strategy);
  const bool has_servers =
      std::string_view(strategy->extended().name()) == "ParameterServerStrategy";
  if (options.policy == "mixed_float16" && (has_servers || horovod))
    throw dist::InvalidArgumentError(
        "--policy=mixed_float16: a step that overflows is left out by all replicas at once, which "
        "parameter servers and --api=horovod do not; use mixed_bfloat16");
  if (job && job->is_parameter_server()) return dist::Server(*strategy).join();
  const bool alone = !cluster || !cluster->cluster_spec();  // else the job's runtime has written it
  const dist::ReadyFile ready(alone ? dist::ready_file_path() : "");
  if (horovod ? horovod->is_chief() : strategy->extended().should_checkpoint())
    check_stores(options);
  RunReport report;
  report.strategy = name;
  report.workers =
      horovod ? dist::hvd::size() : strategy->extended().input_context().num_input_pipelines();
  report.device = device_name(*strategy);
  report.policy = options.policy;
  report.replicas = horovod ? dist::hvd::size() : strategy->num_replicas_in_sync();
  report.global_batch = options.batch_size;
  {
    Trainer trainer(options, *strategy, make_task, horovod.get());
    if (trainer.serves()) return dist::Server(*strategy).join();
    if (options.elastic) {
      if (!trainer.train_and_evaluate_elastically(report)) return dist::kExitPreempted;
      if (!report.test_loss) return too_late();
    } else {
      trainer.train(report);
      trainer.evaluate(report);
    }
    trainer.export_model();
    trainer.close_outputs();
    if (const std::string text = trainer.complaints(); !text.empty())
      dist::log_warning("trainer", text);
  }
  report.peak_rss_bytes = peak_rss_bytes();
  report.peak_gpu_bytes = peak_gpu_bytes(*strategy);
  const bool chief = horovod ? horovod->is_chief() : strategy->extended().should_checkpoint();
  if (horovod) dist::hvd::shutdown();
  if (!chief) return 0;
  print_test(report, options.metric_lines);
  if (options.json) write_json(report, *options.json);
  return 0;
}

}  // namespace

int run_trainer(const TrainerOptions& options, const MakeTask& make_task) {
  if (options.json == "-") keep_stdout_for_json();
  try {
    return run(options, make_task);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    dist::log(dist::LogSeverity::Fatal, "trainer", error.what());
    write_failure(error.what());
    return dist::exit_status(error);
  }
}

}  // namespace examples
