#include "commands.hpp"

#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/launch/process.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/platforms/job_paths.hpp>
#include <distribute/platforms/make_cluster.hpp>
#include <distribute/platforms/sagemaker_cluster_resolver.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

namespace distribute_tools {

using namespace distribute;

/// The flags of the command, which its table explains.
struct RunOptions : launch::LaunchOptions, launch::JobOptions {
  int np = 0, max_np = 0;
  std::string host_list, host_file;
  bool sagemaker = false;
};

/// All slots of the hosts that no other task takes, when -np is missing.
int default_workers(const launch::JobOptions& job) {
  if (job.hosts.empty()) throw InvalidArgumentError("say how many workers: -np N");
  const int workers = launch::count_slots(job.hosts) - job.parameter_servers - job.chief;
  if (workers < 1) throw InvalidArgumentError("the hosts have no slot left for a worker");
  return workers;
}

std::vector<launch::Host> named_hosts(const RunOptions& options, const CommandLine& line) {
  const long lists = line.count("H"), files = line.count("hostfile");
  if (lists + files == 0) return {};
  auto hosts = lists ? launch::parse_host_list(options.host_list)
                     : launch::read_host_file(options.host_file);
  if (lists + files > 1)
    throw InvalidArgumentError("name the hosts once, with -H or with --hostfile");
  return hosts;
}

/// SageMaker's hosts with as many processes each as the job asks for; 1 runs without the launcher.
void take_sagemaker(RunOptions& options, const CommandLine& line) {
  for (const char* flag : {"np", "min-np", "max-np", "ps", "chief", "H", "hostfile", "this-host"})
    if (line.count(flag) > 0)
      throw InvalidArgumentError(
          str_cat("--", flag, " does nothing with --sagemaker, whose job says what runs where"));
  const SageMakerProcesses wanted = read_sagemaker_processes();
  for (const auto& [name, value] : wanted.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!wanted.left_out.empty())
    std::fprintf(stderr, "distribute run: only mpirun knows these of custom_mpi_options: %s\n",
                 wanted.left_out.c_str());
  const int per_host = wanted.per_host > 0
                           ? wanted.per_host
                           : std::max<int>(1, int(config::list_physical_devices("GPU").size()));
  const SageMakerClusterResolver resolver;
  const auto addresses = resolver.cluster_spec().job_tasks("worker");
  if (addresses.empty()) throw InvalidArgumentError(resolver.incomplete_because());
  for (const auto& address : addresses)
    options.hosts.push_back({host_of_address(address.value_or("")), per_host});
  if (per_host > 1) options.this_host = options.hosts[size_t(resolver.task_id().value_or(0))].name;
  options.np = per_host * int(options.hosts.size());
  if (options.port == 0) options.port = SageMakerClusterResolverOptions{}.port;
}

/// Checks the options of a launcher on each host, and reads the job's token.
void complete_host(RunOptions& options) {
  if (options.this_host.empty()) return;
  if (options.max_restarts > 0 || options.min_workers > 0)
    throw InvalidArgumentError(
        "a launcher on each host restarts nothing: leave out --max-restarts and --min-np");
  options.token = value_or_throw(net::job_token_from_environment());
}

/// The job has places for the most workers; -np says how many of them start.
launch::LaunchOptions plan(RunOptions options, const CommandLine& line) {
  if (options.sagemaker)
    take_sagemaker(options, line);
  else
    options.hosts = named_hosts(options, line);
  complete_host(options);
  const int workers = options.np > 0       ? options.np
                      : options.max_np > 0 ? options.max_np
                                           : default_workers(options);
  options.workers = options.max_np > 0 ? options.max_np : workers;
  options.first_workers = workers;
  if (options.max_np > 0 && options.min_workers == 0)
    throw InvalidArgumentError("--max-np needs --min-np");
  if (options.min_workers > workers || workers > options.workers)
    throw InvalidArgumentError(str_cat("--min-np ", options.min_workers, ", -np ", workers,
                                       ", --max-np ", options.workers, ": wanted in this order"));
  options.ssh = Environment().text("DISTRIBUTE_SSH");
  options.command = line.words;
  options.job = options;
  return options;
}

/// Found here, so that its absence is not taken for a failure of the job.
void check_program(const launch::LaunchOptions& options) {
  const auto& hosts = options.job.hosts;
  if (hosts.empty() ||
      std::any_of(hosts.begin(), hosts.end(), [](const auto& host) { return host.is_local(); }))
    launch::find_program(options.command[0]);
}

int fail(int status, const std::string& message) {
  std::fprintf(stderr, "distribute run: %s\n", with_short_words(message).c_str());
  return status;
}

/// The program in the place of this process, so that it gets the signals itself.
int become(const Words& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  return fail(126, command[0] + ": " + std::strerror(errno));
}

int run(const RunOptions& given, const CommandLine& line) {
  launch::LaunchOptions options;
  try {
    options = plan(given, line);
  } catch (const Error& error) {
    throw UsageProblem(error.what());
  }
  try {
    check_program(options);
  } catch (const NotFoundError& error) {
    return fail(127, error.what());
  } catch (const PermissionDeniedError& error) {
    return fail(126, error.what());
  }
  if (given.sagemaker && options.job.this_host.empty()) return become(options.command);
  try {
    return launch::launch(options);
  } catch (const InvalidArgumentError& error) {
    throw UsageProblem(error.what());
  } catch (const PermissionDeniedError& error) {  // found, but not made for this machine
    return fail(126, error.what());
  }
}

Command run_command() {
  using O = RunOptions;
  return make_command<O>(
      "run", "-- PROGRAM [ARGUMENTS]",
      "starts the tasks of a job, here and through ssh on other hosts. Each gets TF_CONFIG, "
      "DISTRIBUTE_JOB_TOKEN and DISTRIBUTE_RESTART_COUNT. DISTRIBUTE_SSH names another ssh, with "
      "options. The exit status is that of the first task that failed. -np N is the same as --np=N",
      {{"np=N", &O::np, at_least(1), "workers; all free slots of the hosts when it is not given"},
       {"min-np=N", &O::min_workers, at_least(1),
        "the job goes on with that number of workers (its program must be elastic): one that ends "
        "is "
        "started "
        "again alone, while restarts are left; it gets DISTRIBUTE_MIN_WORKERS and "
        "DISTRIBUTE_MAX_WORKERS"},
       {"max-np=N", &O::max_np, at_least(1), "workers that there may be at most; as many as --np"},
       {"ps=N", &O::parameter_servers, at_least(0), "parameter servers besides them"},
       {"chief", &O::chief, "a chief besides them"},
       {"H=HOST:SLOTS,...", &O::host_list,
        "hosts; this machine runs its tasks directly, others through ssh"},
       {"hostfile=FILE", &O::host_file, "the same, one host a line: HOST slots=N"},
       {"this-host=HOST", &O::this_host,
        "starts the tasks of this host alone, where the same command runs on each of the hosts "
        "and no ssh is between them; needs --port, and DISTRIBUTE_JOB_TOKEN or "
        "DISTRIBUTE_JOB_TOKEN_FILE"},
       {"sagemaker", &O::sagemaker,
        "the same for a job of SageMaker: hosts of resourceconfig.json, each with "
        "processes_per_host of its mpi distribution (default 1, or with mpi one for each GPU); "
        "variables of custom_mpi_options are set"},
       {"oversubscribe", &O::oversubscribe, "more tasks than slots are all right"},
       {"port=P", &O::port, at_least(1), "first port of each host; without it any free ones"},
       {"metrics-port=P", &O::metrics_port, at_least(1),
        "metrics for Prometheus: of the first task of each host, the next one's is one higher "
        "(distribute metrics token prints the token)"},
       {"max-restarts=N", &O::max_restarts, at_least(0),
        "starts all tasks again, up to N times, after one was killed, was preempted (exit status "
        "143) or ended with another status of 128 and more; they continue from the last "
        "checkpoint. "
        "Status 1 to 127 ends the job: the same command would fail again. The first restart is at "
        "once, the next ones after 1, 2, 4 ... 60 s. With --ps, a worker or chief that was killed "
        "starts again alone"},
       {"restart-window=SECONDS", &O::restart_window_seconds, at_least(0).at_most(1e6),
        "N restarts within this time; 0: in all"},
       {"grace=SECONDS", &O::grace_seconds, at_least(0).at_most(1e6),
        "for the others to end by themselves after a failure"},
       {"stop-timeout=SECONDS", &O::stop_timeout, at_least(0).at_most(1e6),
        "from SIGTERM or SIGINT, or from the first preempted task, to the last SIGKILL: a platform "
        "should give some seconds more"},
       {"output-dir=DIR", &O::output_dir, "a file per task, such as worker-0.log"}},
      run);
}

}  // namespace distribute_tools
