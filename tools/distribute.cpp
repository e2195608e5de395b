/// The program `distribute`: one sub-command per tool.
// Object stores, platforms and metrics become part of the program.
#include <distribute/metrics.hpp>
#include <distribute/object_stores.hpp>
#include <distribute/platforms.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>
#include <absl/flags/usage.h>
#include <absl/strings/str_join.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench_allreduce.hpp"
#include "bench_kernels.hpp"
#include "bench_ps.hpp"
#include "checkpoint_commands.hpp"
#include "cluster_command.hpp"
#include "command_help.hpp"
#include "data_command.hpp"
#include "doctor_command.hpp"
#include "events_command.hpp"
#include "flags.hpp"
#include "make_cluster_command.hpp"
#include "metrics_command.hpp"
#include "predict_command.hpp"
#include "run_command.hpp"
#include "top_command.hpp"

ABSL_FLAG(std::string, model, "book",
          "bench kernels: network to measure, book, tutorial or resnet50; predict: network of the "
          "checkpoint, book, tutorial, resnet50, resnet8, ...");
ABSL_FLAG(std::string, policy, "float32", "number format of the activations: float32");
ABSL_FLAG(int64_t, batch_size, 50, "images per step");
ABSL_FLAG(int, threads, 0, "threads to use; 0 takes OpenMP's own choice");
ABSL_FLAG(bool, json, false, "print JSON instead of a table");
ABSL_FLAG(int, world, 2, "bench allreduce: ranks; bench ps: clients");
ABSL_FLAG(int, ps, 1, "bench ps: servers");
ABSL_FLAG(int64_t, rows, 10'000'000, "bench ps: rows of the sparse table, of 64 numbers; 0: none");
ABSL_FLAG(std::string, transport, "auto",
          "bench allreduce: what moves the bytes: auto, threads, shm, tcp or mpi; bench ps: auto, "
          "shm or tcp");
ABSL_FLAG(std::string, bytes, "1K,64K,1M,25M,100M", "bench: sizes of the array");
ABSL_FLAG(int, flows, 1, "bench allreduce: TCP connections between two ranks");
ABSL_FLAG(double, seconds, 1, "bench: time for each size, at least 20 rounds");
ABSL_FLAG(bool, raw, false, "bench allreduce: also sockets, or memory, alone with the same bytes");
ABSL_FLAG(bool, tls, false, "bench allreduce: also encrypted, in turn with plain tcp");
ABSL_FLAG(bool, in_place, false,
          "bench allreduce: the array lies in the shared memory of threads or shm");
ABSL_FLAG(double, tolerance, 0, "ckpt diff: largest difference of numbers that counts as none");
ABSL_FLAG(std::string, names, "variable",
          "ckpt convert: flat names are those of the variables, or the paths of objects: "
          "variable or path");
ABSL_FLAG(std::string, job_name, "", "cluster: the job of this task, such as worker or ps");
ABSL_FLAG(std::optional<int>, task_index, std::nullopt, "cluster: number of this task in its job");
ABSL_FLAG(std::string, ps_hosts, "", "cluster: host:port of the parameter servers, with commas");
ABSL_FLAG(std::string, worker_hosts, "", "cluster: host:port of the workers, with commas");
ABSL_FLAG(std::string, chief_hosts, "", "cluster: host:port of the chief");
ABSL_FLAG(std::string, evaluator_hosts, "", "cluster: host:port of the evaluator");
ABSL_FLAG(bool, ready, false,
          "cluster: only whether the task that writes DISTRIBUTE_READY_FILE takes part in its job");

ABSL_FLAG(std::string, checkpoint, "", "predict: prefix of a checkpoint, or a directory of some");
ABSL_FLAG(std::string, labels, "", "predict: file with the name of one class on each line");
ABSL_FLAG(int64_t, image_size, 0, "predict: of residual networks; 0: 32, resnet50 224");
ABSL_FLAG(int64_t, top, 5, "predict: how many classes to show");
ABSL_FLAG(double, interval, 2, "top: seconds between two readings");
ABSL_FLAG(int64_t, count, 0, "top: tables to show; 0: until the job ends, with --json one");
ABSL_FLAG(double, timeout, 30, "doctor: seconds for the other tasks to appear");
ABSL_FLAG(bool, require_gpu, false,
          "doctor: no GPU, or none of NVRTC, cuBLASLt, cuDNN or NCCL, keeps the job from running");
ABSL_FLAG(std::string, input_dir, "", "data tfrecord: a folder with one folder for each class");
ABSL_FLAG(std::string, output_dir, "", "data tfrecord: where the shards go");
ABSL_FLAG(std::string, split, "train", "data tfrecord: the files' names begin with it");
ABSL_FLAG(int64_t, shards, 1, "data tfrecord: number of files");
ABSL_FLAG(int64_t, first_label, 1, "data tfrecord: label of the first class");
ABSL_FLAG(bool, shuffle, false, "data tfrecord: pictures of all classes mixed");
ABSL_FLAG(uint64_t, seed, 0, "data tfrecord: of the order");
ABSL_FLAG(bool, strict, false, "data tfrecord: a file that is no picture is an error");

int fail_usage(const std::string& message) {
  return distribute_tools::usage_error("distribute", message);
}

int bench_kernels() {
  distribute_tools::KernelBenchOptions options;
  options.model = absl::GetFlag(FLAGS_model);
  options.policy = absl::GetFlag(FLAGS_policy);
  options.batch_size = absl::GetFlag(FLAGS_batch_size);
  options.threads = absl::GetFlag(FLAGS_threads);
  options.json = absl::GetFlag(FLAGS_json);
  return distribute_tools::bench_kernels(options);
}

distribute::ClusterFlags cluster_flags() {
  distribute::ClusterFlags flags;
  flags.job_name = absl::GetFlag(FLAGS_job_name);
  flags.task_index = absl::GetFlag(FLAGS_task_index);
  flags.ps_hosts = absl::GetFlag(FLAGS_ps_hosts);
  flags.worker_hosts = absl::GetFlag(FLAGS_worker_hosts);
  flags.chief_hosts = absl::GetFlag(FLAGS_chief_hosts);
  flags.evaluator_hosts = absl::GetFlag(FLAGS_evaluator_hosts);
  return flags;
}

int cluster(const std::vector<std::string>& words) {
  if (words.size() > 1) return fail_usage("cluster: unexpected argument '" + words[1] + "'");
  if (absl::GetFlag(FLAGS_ready)) return distribute_tools::ready_command();
  return distribute_tools::cluster_command(cluster_flags(), absl::GetFlag(FLAGS_json));
}

int doctor(const std::vector<std::string>& words) {
  if (words.size() > 1) return fail_usage("doctor: unexpected argument '" + words[1] + "'");
  distribute_tools::DoctorOptions options;
  options.cluster = cluster_flags();
  options.timeout = absl::GetFlag(FLAGS_timeout);
  options.json = absl::GetFlag(FLAGS_json);
  options.require_gpu = absl::GetFlag(FLAGS_require_gpu);
  if (!(options.timeout > 0 && options.timeout <= 1e6))
    return fail_usage("doctor: --timeout is a number of seconds above 0");
  return distribute_tools::doctor_command(options);
}

int bench_all_reduce() {
  distribute_tools::AllReduceBenchOptions options;
  options.transport = absl::GetFlag(FLAGS_transport);
  options.bytes = absl::GetFlag(FLAGS_bytes);
  options.world = absl::GetFlag(FLAGS_world);
  options.flows = absl::GetFlag(FLAGS_flows);
  options.seconds = absl::GetFlag(FLAGS_seconds);
  options.raw = absl::GetFlag(FLAGS_raw);
  options.tls = absl::GetFlag(FLAGS_tls);
  options.in_place = absl::GetFlag(FLAGS_in_place);
  options.json = absl::GetFlag(FLAGS_json);
  return distribute_tools::bench_all_reduce(options);
}

int bench_parameter_servers() {
  distribute_tools::ServerBenchOptions options;
  options.transport = absl::GetFlag(FLAGS_transport);
  options.bytes = absl::GetFlag(FLAGS_bytes);
  options.servers = absl::GetFlag(FLAGS_ps);
  options.world = absl::GetFlag(FLAGS_world);
  options.rows = absl::GetFlag(FLAGS_rows);
  options.seconds = absl::GetFlag(FLAGS_seconds);
  options.json = absl::GetFlag(FLAGS_json);
  return distribute_tools::bench_parameter_servers(options);
}

int bench(const std::vector<std::string>& words) {
  if (words.size() < 2) return fail_usage("bench: say what to measure: kernels, allreduce or ps");
  if (words[1] != "kernels" && words[1] != "allreduce" && words[1] != "ps")
    return fail_usage("bench: unknown benchmark '" + words[1] + "'");
  if (words.size() > 2)
    return fail_usage("bench " + words[1] + ": unexpected argument '" + words[2] + "'");
  if (words[1] == "ps") return bench_parameter_servers();
  return words[1] == "kernels" ? bench_kernels() : bench_all_reduce();
}

int ckpt(const std::vector<std::string>& words) {
  distribute_tools::CheckpointCommandOptions options;
  options.json = absl::GetFlag(FLAGS_json);
  options.tolerance = absl::GetFlag(FLAGS_tolerance);
  options.names = absl::GetFlag(FLAGS_names);
  return distribute_tools::checkpoint_command({words.begin() + 1, words.end()}, options);
}

int data(const std::vector<std::string>& words) {
  distribute_tools::DataCommandOptions options;
  options.input_dir = absl::GetFlag(FLAGS_input_dir);
  options.output_dir = absl::GetFlag(FLAGS_output_dir);
  options.split = absl::GetFlag(FLAGS_split);
  options.shards = absl::GetFlag(FLAGS_shards);
  options.first_label = absl::GetFlag(FLAGS_first_label);
  options.shuffle = absl::GetFlag(FLAGS_shuffle);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.strict = absl::GetFlag(FLAGS_strict);
  options.json = absl::GetFlag(FLAGS_json);
  return distribute_tools::data_command({words.begin() + 1, words.end()}, options);
}

int predict(const std::vector<std::string>& words) {
  distribute_tools::PredictCommandOptions options;
  options.model = absl::GetFlag(FLAGS_model);
  options.checkpoint = absl::GetFlag(FLAGS_checkpoint);
  options.labels = absl::GetFlag(FLAGS_labels);
  options.image_size = absl::GetFlag(FLAGS_image_size);
  options.top = absl::GetFlag(FLAGS_top);
  options.json = absl::GetFlag(FLAGS_json);
  return distribute_tools::predict_command({words.begin() + 1, words.end()}, options);
}

int main(int argc, char** argv) {
  // What follows the program's name there is not ours to parse.
  if (argc > 1 && std::string_view(argv[1]) == "run")
    return distribute_tools::run_command(argc - 1, argv + 1);
  if (argc > 2 && std::string_view(argv[1]) == "cluster" && std::string_view(argv[2]) == "make")
    return distribute_tools::make_cluster_command(argc - 2, argv + 2);
  if (distribute_tools::print_command_help(argc, argv)) return 0;
  absl::SetProgramUsageMessage("tools around training jobs; COMMAND --help tells more.\n\n" +
                               distribute_tools::usage_of({}));
  const std::vector<std::string> words = distribute_tools::parse_flags(argc, argv);
  if (words.empty())
    return fail_usage(
        "say what to do: bench, ckpt, cluster, data, doctor, events, metrics, predict, run or top");
  const std::string& command = words[0];
  if (const auto flag = distribute_tools::foreign_flag(words, distribute_tools::given_flags());
      !flag.empty())
    return fail_usage("flag --" + flag + " does nothing with " + absl::StrJoin(words, " "));
  if (command == "bench") return bench(words);
  if (command == "ckpt") return ckpt(words);
  if (command == "data") return data(words);
  if (command == "events")
    return distribute_tools::events_command({words.begin() + 1, words.end()},
                                            absl::GetFlag(FLAGS_json));
  if (command == "cluster") return cluster(words);
  if (command == "predict") return predict(words);
  if (command == "doctor") return doctor(words);
  if (command == "top")
    return distribute_tools::top_command({words.begin() + 1, words.end()},
                                         {.interval = absl::GetFlag(FLAGS_interval),
                                          .count = absl::GetFlag(FLAGS_count),
                                          .json = absl::GetFlag(FLAGS_json)});
  if (command == "metrics")
    return distribute_tools::metrics_command({words.begin() + 1, words.end()});
  return fail_usage("unknown command '" + command + "'");
}
