#include "options.hpp"

#include "managed_job.hpp"
#include "tools/flags.hpp"

#include <distribute/base/error.hpp>
#include <distribute/cluster/flags_cluster_resolver.hpp>
#include <distribute/device/math_mode.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include <absl/flags/flag.h>
#include <absl/flags/usage.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

/// --json alone prints to standard output; --json=FILE writes a file.
struct JsonTarget {
  std::optional<std::string> value;
};
bool AbslParseFlag(absl::string_view text, JsonTarget* target, std::string*) {
  target->value = text.empty() || text == "true" ? "-" : std::string(text);
  return true;
}
std::string AbslUnparseFlag(const JsonTarget& target) { return target.value.value_or(""); }

ABSL_FLAG(std::string, strategy, "",
          "one_device, mirrored, multi_worker, parameter_server or central_storage; "
          "default: what TF_CONFIG or a launcher's variables imply, else mirrored");
ABSL_FLAG(std::string, api, "strategy",
          "how the step is written: strategy, or horovod, which every rank runs on one device");
ABSL_FLAG(std::string, job_name, "", "job of this task: worker, ps, chief; instead of TF_CONFIG");
ABSL_FLAG(std::optional<int>, task_index, std::nullopt, "number of this task in its job");
ABSL_FLAG(std::string, ps_hosts, "", "host:port of the parameter servers, with commas");
ABSL_FLAG(std::string, worker_hosts, "", "host:port of the workers, with commas");
ABSL_FLAG(std::string, chief_hosts, "", "host:port of the chief");
ABSL_FLAG(int, replicas, 1, "logical devices of this process");
ABSL_FLAG(std::string, device, "auto", "auto, cpu or gpu");
ABSL_FLAG(
    std::optional<int>, metrics_port, std::nullopt,
    "metrics for Prometheus at this port of the task's address; 0: any; DISTRIBUTE_METRICS_PORT "
    "says the same");
ABSL_FLAG(std::string, data_dir, "", "folder with the IDX files; default: the bundled digits");
ABSL_FLAG(
    std::string, coordinator, "auto",
    "parameter_server: whether the chief gives out the steps (true), or every worker runs its "
    "own loop (false); auto: as the cluster has a chief or not");
ABSL_FLAG(int, sync_replicas, 0,
          "parameter_server: so many workers' gradients make a step, the others are backup; 0: "
          "every gradient is applied when it comes");
ABSL_FLAG(bool, elastic, false,
          "multi_worker, or --api=horovod: workers may leave (SIGTERM, or lost) and join while "
          "training goes on");
ABSL_FLAG(int, min_workers, 1, "elastic: with fewer, training stands still and waits for more");
ABSL_FLAG(int, max_workers, 0, "elastic: further ones wait for room; 0: all of the cluster");
ABSL_FLAG(int64_t, max_staleness, -1,
          "parameter_server: gradients of weights older than so many steps are dropped; -1: none");
ABSL_FLAG(bool, bf16_on_wire, false, "parameter_server: values travel as bfloat16");
ABSL_FLAG(int64_t, batch_size, 50, "global batch size; with parameter servers that of one worker");
ABSL_FLAG(int64_t, steps, 0, "training steps of the job; 0: as many as --epochs says");
ABSL_FLAG(double, epochs, 3, "passes over the training data when --steps is not given");
ABSL_FLAG(std::string, optimizer, "adam",
          "adam, sgd, momentum, nesterov, adamw, rmsprop or adagrad");
ABSL_FLAG(double, learning_rate, 1e-3, "first learning rate");
ABSL_FLAG(double, momentum, 0.9, "momentum of momentum and nesterov; rmsprop: 0 unless given");
ABSL_FLAG(double, beta_1, 0.9, "adam, adamw: decay of the first moment");
ABSL_FLAG(double, beta_2, 0.999, "adam, adamw: decay of the second moment");
ABSL_FLAG(double, rho, 0.9, "rmsprop: decay of the mean square");
ABSL_FLAG(double, epsilon, 1e-7, "adam, adamw, rmsprop, adagrad: added to the denominator");
ABSL_FLAG(double, initial_accumulator_value, 0.1, "adagrad: start of the accumulators");
ABSL_FLAG(std::string, lr_schedule, "constant", "constant, cosine or piecewise");
ABSL_FLAG(int64_t, decay_steps, 0, "steps of the schedule; 0: all steps");
ABSL_FLAG(double, decay_alpha, 0, "cosine: last rate as a part of the first");
ABSL_FLAG(int64_t, warmup_steps, 0, "steps in which the rate rises from 0 to the first");
ABSL_FLAG(double, clip_norm, 0, "largest global norm of the gradients; 0: no limit");
ABSL_FLAG(double, weight_decay, 0, "decay, never on biases and normalization; 0: none");
ABSL_FLAG(double, ema_decay, 0, "test with averages of the weights that decay so; 0: without");
ABSL_FLAG(int64_t, accumulate_steps, 1, "parts of a batch that are computed one after the other");
ABSL_FLAG(double, label_smoothing, 0, "part of a label spread over all classes, in [0, 1)");
ABSL_FLAG(bool, shuffle, true, "false: images in file order, round and round");
ABSL_FLAG(uint64_t, seed, 1, "seed of weights, shuffling and dropout");
ABSL_FLAG(std::string, policy, "float32", "float32, mixed_bfloat16 or mixed_float16");
ABSL_FLAG(std::string, checkpoint_dir, "", "folder of checkpoints; training resumes from it");
ABSL_FLAG(bool, restore_position, true,
          "false: training that resumes begins a new pass over the data, which may be another one");
ABSL_FLAG(int64_t, save_steps, 500, "steps between checkpoints");
ABSL_FLAG(bool, async_checkpoint, false, "write checkpoints in the background");
ABSL_FLAG(std::string, logdir, "", "folder for TensorBoard: loss every 100 steps, test results");
ABSL_FLAG(std::string, init_checkpoint, "", "TensorBundle prefix with the first weights");
ABSL_FLAG(std::string, final_checkpoint, "", "TensorBundle prefix for the last weights");
ABSL_FLAG(std::string, export_dir, "",
          "SavedModel of the trained network, of its logits; with averages where they are kept");
ABSL_FLAG(std::string, export_onnx, "", "ONNX file of the same");
ABSL_FLAG(std::string, loss_csv, "", "file for step,loss,grad_norm of every step");
ABSL_FLAG(
    bool, deterministic, false,
    "the same bits in every run on GPUs, too, for slower kernels; always so on the CPU with the "
    "same number of threads. Implies --float32_matmul_precision=highest");
ABSL_FLAG(std::string, float32_matmul_precision, "high",
          "high: convolutions by Winograd's algorithm on the CPU, TensorFloat-32 on GPUs; highest: "
          "direct sums in float32, as for comparisons with other programs");
ABSL_FLAG(std::string, cuda_graph, "auto",
          "whether a step on one GPU is recorded as a CUDA graph and launched as one: true, false, "
          "or auto, which does so for small networks");
ABSL_FLAG(JsonTarget, json, {}, "write the result as JSON to a file, or to standard output");
ABSL_FLAG(std::string, model, "", "which network");
ABSL_FLAG(std::string, job_dir, "",
          "folder of the job: checkpoints, logs and a SavedModel of the trained network (model) go "
          "below it, where no flag says otherwise; also --job-dir");
ABSL_FLAG(std::string, preemption_notice, "",
          "gce, ec2 or azure: asks the machine's metadata server whether it is to go, and saves "
          "then to --checkpoint_dir as after SIGTERM");
ABSL_FLAG(double, eval_timeout, 3600,
          "task evaluator: seconds to wait for another checkpoint before it gives up");
ABSL_FLAG(bool, metric_lines, false,
          "also print lines such as loss=0.23, which Katib and other tuners read");

namespace examples {

int usage_error(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 2;
}

namespace {

[[noreturn]] void fail(const std::string& message) { std::exit(usage_error(message)); }

}  // namespace

void require_one_of(const char* flag, const std::string& value,
                    const std::vector<std::string>& known) {
  for (const std::string& name : known)
    if (value == name) return;
  fail(absl::StrCat("--", flag, "=", value, " is unknown; it takes ", absl::StrJoin(known, ", ")));
}

namespace {

constexpr double kBelowOne = 1 - 1e-12;

void require_range(const char* flag, double value, double low, double high, const char* range) {
  if (!(value >= low && value <= high)) fail(absl::StrCat("--", flag, " must be ", range));
}

void check_cluster(const TrainerOptions& o) {
  if (!o.strategy.empty())
    require_one_of(
        "strategy", o.strategy,
        {"one_device", "mirrored", "multi_worker", "parameter_server", "central_storage"});
  require_one_of("api", o.api, {"strategy", "horovod"});
  require_one_of("device", o.device, {"auto", "cpu", "gpu"});
  try {
    if (o.cluster.any()) distribute::FlagsClusterResolver checked(o.cluster);
  } catch (const distribute::InvalidArgumentError& error) {
    fail(error.what());
  }
  require_range("replicas", o.replicas, 1, 1024, "at least 1 and at most 1024");
  if (o.strategy == "one_device" && o.replicas > 1)
    fail(absl::StrCat("--strategy=one_device has one replica, not --replicas=", o.replicas));
  if (o.elastic && !o.strategy.empty() && o.strategy != "multi_worker")
    fail("--elastic needs --strategy=multi_worker");
  if (!o.elastic && (given("min_workers") || given("max_workers")))
    fail("--min_workers and --max_workers need --elastic");
  if (o.elastic && !o.restore_position)
    fail("--elastic takes over positions in the data; leave out --norestore_position");
  if (o.min_workers < 1) fail("--min_workers must be at least 1");
  if (o.max_workers != 0 && o.max_workers < o.min_workers)
    fail("--max_workers must be at least --min_workers");
}

void check_servers(const TrainerOptions& o) {
  require_one_of("coordinator", o.coordinator, {"auto", "true", "false"});
  if (o.sync_replicas < 0) fail("--sync_replicas must be at least 0");
  if (o.max_staleness < -1) fail("--max_staleness must be at least 0, or -1 for any");
  if (o.sync_replicas > 0 && o.max_staleness >= 0)
    fail("--sync_replicas and --max_staleness exclude each other");
  if (o.sync_replicas > 0 && o.coordinator == "true")
    fail("--sync_replicas needs workers with loops of their own: --coordinator=false");
}

void check_optimizer(const TrainerOptions& o) {
  require_one_of("optimizer", o.optimizer,
                 {"adam", "sgd", "momentum", "nesterov", "adamw", "rmsprop", "adagrad"});
  require_one_of("lr_schedule", o.lr_schedule, {"constant", "cosine", "piecewise"});
  require_range("learning_rate", o.learning_rate, 0, 1e6, "a number between 0 and 1e6");
  require_range("momentum", o.momentum, 0, 1, "in [0, 1]");
  for (const auto& [flag, decay] : {std::pair{"beta_1", o.beta_1}, {"beta_2", o.beta_2}})
    require_range(flag, decay, 0, kBelowOne, "in [0, 1)");
  require_range("rho", o.rho, 0, kBelowOne, "in [0, 1)");
  require_range("epsilon", o.epsilon, 0, 1e6, "at least 0");
  require_range("initial_accumulator_value", o.initial_accumulator_value, 0, 1e30, "at least 0");
  require_range("decay_alpha", o.decay_alpha, 0, 1, "in [0, 1]");
  if (o.decay_steps < 0) fail("--decay_steps must be at least 0");
  if (o.warmup_steps < 0) fail("--warmup_steps must be at least 0");
  require_range("clip_norm", o.clip_norm, 0, 1e30, "at least 0");
  require_range("weight_decay", o.weight_decay, 0, 1e6, "at least 0");
}

void check_training(const TrainerOptions& o) {
  require_one_of("policy", o.policy, {"float32", "mixed_bfloat16", "mixed_float16"});
  require_one_of("float32_matmul_precision", o.float32_matmul_precision, {"highest", "high"});
  require_one_of("cuda_graph", o.cuda_graph, {"auto", "true", "false"});
  if (!o.preemption_notice.empty())
    require_one_of("preemption_notice", o.preemption_notice, {"gce", "ec2", "azure"});
  if (o.batch_size < 1) fail("--batch_size must be at least 1");
  if (o.steps < 0) fail("--steps must be at least 1");
  if (o.save_steps < 1) fail("--save_steps must be at least 1");
  require_range("label_smoothing", o.label_smoothing, 0, kBelowOne, "in [0, 1)");
  require_range("ema_decay", o.ema_decay, 0, kBelowOne, "in [0, 1)");
  if (o.accumulate_steps < 1) fail("--accumulate_steps must be at least 1");
  if (o.batch_size % (o.accumulate_steps * o.replicas) != 0 && o.accumulate_steps > 1)
    fail("--batch_size must be a multiple of --accumulate_steps times --replicas");
  if (o.loss_csv.find("://") != std::string::npos)
    fail("--loss_csv=" + o.loss_csv + " must be on a local disk: it grows with every step");
  require_range("eval_timeout", o.eval_timeout, 0, 1e7, "at least 0");
  require_range("epochs", o.epochs, 1e-9, 1e9, "greater than 0");
}

std::vector<std::string>& command_line() {
  static std::vector<std::string> arguments;
  return arguments;
}

}  // namespace

bool given(const std::string& flag) {
  for (const std::string& argument : command_line())
    if (argument == "--" + flag || argument.rfind("--" + flag + "=", 0) == 0) return true;
  return false;
}

namespace {

void read_cluster(TrainerOptions& o) {
  o.api = absl::GetFlag(FLAGS_api);
  o.strategy = absl::GetFlag(FLAGS_strategy);
  o.coordinator = absl::GetFlag(FLAGS_coordinator);
  o.sync_replicas = absl::GetFlag(FLAGS_sync_replicas);
  o.max_staleness = absl::GetFlag(FLAGS_max_staleness);
  o.bf16_on_wire = absl::GetFlag(FLAGS_bf16_on_wire);
  o.elastic = absl::GetFlag(FLAGS_elastic);
  o.min_workers = absl::GetFlag(FLAGS_min_workers);
  o.max_workers = absl::GetFlag(FLAGS_max_workers);
  o.replicas = absl::GetFlag(FLAGS_replicas);
  o.device = absl::GetFlag(FLAGS_device);
  o.cluster = {.job_name = absl::GetFlag(FLAGS_job_name),
               .task_index = absl::GetFlag(FLAGS_task_index),
               .ps_hosts = absl::GetFlag(FLAGS_ps_hosts),
               .worker_hosts = absl::GetFlag(FLAGS_worker_hosts),
               .chief_hosts = absl::GetFlag(FLAGS_chief_hosts)};
  if (const auto port = absl::GetFlag(FLAGS_metrics_port))
    ::setenv("DISTRIBUTE_METRICS_PORT", std::to_string(*port).c_str(), 1);
}

void read_optimizer(TrainerOptions& o) {
  o.optimizer = absl::GetFlag(FLAGS_optimizer);
  o.learning_rate = absl::GetFlag(FLAGS_learning_rate);
  o.momentum = absl::GetFlag(FLAGS_momentum);
  o.beta_1 = absl::GetFlag(FLAGS_beta_1);
  o.beta_2 = absl::GetFlag(FLAGS_beta_2);
  o.rho = absl::GetFlag(FLAGS_rho);
  o.epsilon = absl::GetFlag(FLAGS_epsilon);
  o.initial_accumulator_value = absl::GetFlag(FLAGS_initial_accumulator_value);
  o.lr_schedule = absl::GetFlag(FLAGS_lr_schedule);
  o.decay_steps = absl::GetFlag(FLAGS_decay_steps);
  o.decay_alpha = absl::GetFlag(FLAGS_decay_alpha);
  o.warmup_steps = absl::GetFlag(FLAGS_warmup_steps);
  o.clip_norm = absl::GetFlag(FLAGS_clip_norm);
  o.weight_decay = absl::GetFlag(FLAGS_weight_decay);
  if (o.optimizer == "rmsprop" && !given("momentum")) o.momentum = 0;
}

void read_training(TrainerOptions& o) {
  o.model = absl::GetFlag(FLAGS_model);
  o.batch_size = absl::GetFlag(FLAGS_batch_size);
  o.steps = absl::GetFlag(FLAGS_steps);
  o.epochs = absl::GetFlag(FLAGS_epochs);
  o.ema_decay = absl::GetFlag(FLAGS_ema_decay);
  o.accumulate_steps = absl::GetFlag(FLAGS_accumulate_steps);
  o.label_smoothing = absl::GetFlag(FLAGS_label_smoothing);
  o.shuffle = absl::GetFlag(FLAGS_shuffle);
  o.restore_position = absl::GetFlag(FLAGS_restore_position);
  o.seed = absl::GetFlag(FLAGS_seed);
  o.policy = absl::GetFlag(FLAGS_policy);
  o.deterministic = absl::GetFlag(FLAGS_deterministic);
  o.float32_matmul_precision = absl::GetFlag(FLAGS_float32_matmul_precision);
  if (!given("float32_matmul_precision"))
    o.float32_matmul_precision =
        o.deterministic ? "highest" : distribute::config::get_float32_matmul_precision();
  o.cuda_graph = absl::GetFlag(FLAGS_cuda_graph);
  o.metric_lines = absl::GetFlag(FLAGS_metric_lines);
  o.eval_timeout = absl::GetFlag(FLAGS_eval_timeout);
  o.preemption_notice = absl::GetFlag(FLAGS_preemption_notice);
  if (given("steps") && o.steps < 1) fail("--steps must be at least 1");
}

void read_files(TrainerOptions& o) {
  o.data_dir = absl::GetFlag(FLAGS_data_dir);
  o.checkpoint_dir = absl::GetFlag(FLAGS_checkpoint_dir);
  o.save_steps = absl::GetFlag(FLAGS_save_steps);
  o.async_checkpoint = absl::GetFlag(FLAGS_async_checkpoint);
  o.logdir = absl::GetFlag(FLAGS_logdir);
  o.init_checkpoint = absl::GetFlag(FLAGS_init_checkpoint);
  o.final_checkpoint = absl::GetFlag(FLAGS_final_checkpoint);
  o.export_dir = absl::GetFlag(FLAGS_export_dir);
  o.export_onnx = absl::GetFlag(FLAGS_export_onnx);
  o.loss_csv = absl::GetFlag(FLAGS_loss_csv);
  o.json = absl::GetFlag(FLAGS_json).value;
}

}  // namespace

TrainerOptions parse_options(int argc, char** argv, const std::string& usage) {
  absl::SetProgramUsageMessage(usage);
  std::vector<std::string>& arguments = command_line();
  arguments = managed_arguments(argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    if (argument == "--json" || argument == "-json") argument = "--json=-";
    pointers.push_back(argument.data());
  }
  const auto rest = distribute_tools::parse_flags(int(pointers.size()), pointers.data());
  if (!rest.empty()) fail(absl::StrCat("unexpected argument '", rest[0], "'"));
  TrainerOptions o;
  read_cluster(o);
  read_optimizer(o);
  read_training(o);
  read_files(o);
  apply_job_paths(o, absl::GetFlag(FLAGS_job_dir));
  check_cluster(o);
  check_servers(o);
  check_optimizer(o);
  check_training(o);
  return o;
}

}  // namespace examples
