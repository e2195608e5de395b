#include "run_command.hpp"

#include <distribute/base/error.hpp>
#include <distribute/launch/host_list.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/launch/process.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <getopt.h>

namespace distribute_tools {

using namespace distribute;

const char kRunUsage[] =
    "distribute run -np N [options] -- PROGRAM [ARGUMENTS]\n"
    "  -np N              workers\n"
    "  --min-np N         the job goes on with so many workers (its program must be elastic):\n"
    "                     one that ends is started again alone, while restarts are left;\n"
    "                     it gets DISTRIBUTE_MIN_WORKERS and DISTRIBUTE_MAX_WORKERS\n"
    "  --max-np N         workers that there may be at most (as many as -np)\n"
    "  --ps N             parameter servers besides them\n"
    "  --chief            a chief besides them\n"
    "  -H HOST:SLOTS,...  hosts; this machine runs its tasks directly, others through ssh\n"
    "  --hostfile FILE    the same, one host a line: HOST slots=N\n"
    "  --oversubscribe    more tasks than slots are all right\n"
    "  --port P           first port of each host; without it any free ones\n"
    "  --metrics-port P   metrics for Prometheus: of the first task of each host, the next one's "
    "is\n"
    "                     one higher (distribute metrics token prints the token)\n"
    "  --max-restarts N   starts all tasks again, up to N times, after one was killed, was\n"
    "                     preempted (exit status 143) or ended with another status of 128 and\n"
    "                     more; they continue from the last checkpoint. Status 1 to 127 ends the\n"
    "                     job: the same command would fail again. The first restart is at once,\n"
    "                     the next ones after 1, 2, 4 ... 60 s.\n"
    "                     With --ps, a worker or chief that was killed starts again alone\n"
    "  --restart-window SECONDS\n"
    "                     N restarts within this time instead of in all\n"
    "  --grace SECONDS    for the others to end by themselves after a failure (12)\n"
    "  --stop-timeout SECONDS\n"
    "                     from SIGTERM or SIGINT, or from the first preempted task, to the last\n"
    "                     SIGKILL (25): a platform should give some seconds more\n"
    "  --output-dir DIR   a file per task, such as worker-0.log\n"
    "Each task gets TF_CONFIG, DISTRIBUTE_JOB_TOKEN and DISTRIBUTE_RESTART_COUNT. DISTRIBUTE_SSH\n"
    "names another ssh, with options. The exit status is that of the first task that failed.\n";

enum Option {
  kWorkers,
  kLeastWorkers,
  kMostWorkers,
  kServers,
  kChief,
  kHosts,
  kHostFile,
  kOversubscribe,
  kPort,
  kMetricsPort,
  kRestarts,
  kRestartWindow,
  kGrace,
  kStopTimeout,
  kOutput,
  kHelp
};

const option kOptions[] = {{"np", required_argument, nullptr, kWorkers},
                           {"min-np", required_argument, nullptr, kLeastWorkers},
                           {"max-np", required_argument, nullptr, kMostWorkers},
                           {"ps", required_argument, nullptr, kServers},
                           {"chief", no_argument, nullptr, kChief},
                           {"H", required_argument, nullptr, kHosts},
                           {"hostfile", required_argument, nullptr, kHostFile},
                           {"oversubscribe", no_argument, nullptr, kOversubscribe},
                           {"port", required_argument, nullptr, kPort},
                           {"metrics-port", required_argument, nullptr, kMetricsPort},
                           {"max-restarts", required_argument, nullptr, kRestarts},
                           {"restart-window", required_argument, nullptr, kRestartWindow},
                           {"grace", required_argument, nullptr, kGrace},
                           {"stop-timeout", required_argument, nullptr, kStopTimeout},
                           {"output-dir", required_argument, nullptr, kOutput},
                           {"help", no_argument, nullptr, kHelp},
                           {}};

/// A whole number of at least `least`.
int parse_count(const char* name, const std::string& text, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    throw InvalidArgumentError(
        str_cat(name, ": wanted a whole number from ", least, ", not '", text, "'"));
  return value;
}

double parse_seconds(const char* name, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= 0 && value <= 1e6))
    throw InvalidArgumentError(str_cat(name, ": wanted seconds, not '", text, "'"));
  return value;
}

struct Arguments {
  launch::LaunchOptions launch;
  std::optional<int> workers, most_workers;
  bool help = false;
};

void take_option(int option, const std::string& value, Arguments& to) {
  launch::JobOptions& job = to.launch.job;
  const auto set_hosts = [&](std::vector<launch::Host> hosts) {
    if (!job.hosts.empty())
      throw InvalidArgumentError("name the hosts once, with -H or with --hostfile");
    job.hosts = std::move(hosts);
  };
  switch (option) {
    case kWorkers: to.workers = parse_count("-np", value, 1); break;
    case kLeastWorkers: to.launch.min_workers = parse_count("--min-np", value, 1); break;
    case kMostWorkers: to.most_workers = parse_count("--max-np", value, 1); break;
    case kServers: job.parameter_servers = parse_count("--ps", value, 0); break;
    case kChief: job.chief = true; break;
    case kHosts: set_hosts(launch::parse_host_list(value)); break;
    case kHostFile: set_hosts(launch::read_host_file(value)); break;
    case kOversubscribe: job.oversubscribe = true; break;
    case kPort: job.port = parse_count("--port", value, 1); break;
    case kMetricsPort: job.metrics_port = parse_count("--metrics-port", value, 1); break;
    case kRestarts: to.launch.max_restarts = parse_count("--max-restarts", value, 0); break;
    case kGrace: to.launch.grace_seconds = parse_seconds("--grace", value); break;
    case kRestartWindow:
      to.launch.restart_window_seconds = parse_seconds("--restart-window", value);
      break;
    case kStopTimeout: to.launch.stop_timeout = parse_seconds("--stop-timeout", value); break;
    case kOutput: to.launch.output_dir = value; break;
    default: to.help = true;
  }
}

/// Parses the options up to the program.
Arguments parse_arguments(int argc, char** argv) {
  Arguments result;
  ::opterr = 0;
  ::optind = 1;
  for (int option; (option = ::getopt_long_only(argc, argv, "+:", kOptions, nullptr)) != -1;) {
    const std::string word = argv[::optind - 1];
    if (option == '?') throw InvalidArgumentError("unknown option '" + word + "'");
    if (option == ':') throw InvalidArgumentError("option '" + word + "' needs a value");
    take_option(option, ::optarg ? ::optarg : "", result);
  }
  result.launch.command.assign(argv + ::optind, argv + argc);
  return result;
}

/// All slots of the hosts that nobody else takes, when -np is missing.
int default_workers(const launch::JobOptions& job) {
  if (job.hosts.empty()) throw InvalidArgumentError("say how many workers: -np N");
  const int workers = launch::count_slots(job.hosts) - job.parameter_servers - job.chief;
  if (workers < 1) throw InvalidArgumentError("the hosts have no slot left for a worker");
  return workers;
}

/// The job has places for the most workers; -np says how many of them start.
void plan_workers(Arguments& arguments) {
  launch::LaunchOptions& options = arguments.launch;
  const int workers = arguments.workers        ? *arguments.workers
                      : arguments.most_workers ? *arguments.most_workers
                                               : default_workers(options.job);
  options.job.workers = arguments.most_workers.value_or(workers);
  options.first_workers = workers;
  if (arguments.most_workers && options.min_workers == 0)
    throw InvalidArgumentError("--max-np needs --min-np");
  if (options.min_workers > workers || workers > options.job.workers)
    throw InvalidArgumentError(str_cat("--min-np ", options.min_workers, ", -np ", workers,
                                       ", --max-np ", options.job.workers,
                                       ": wanted in this order"));
}

/// Found here, so that its absence is not taken for a failure of the job.
void check_program(const launch::LaunchOptions& options) {
  const auto& hosts = options.job.hosts;
  if (hosts.empty() ||
      std::any_of(hosts.begin(), hosts.end(), [](const auto& host) { return host.is_local(); }))
    launch::find_program(options.command[0]);
}

int fail(int status, const std::string& message) {
  std::fprintf(stderr, "distribute run: %s\n", message.c_str());
  return status;
}

int run_command(int argc, char** argv) {
  Arguments arguments;
  launch::LaunchOptions& options = arguments.launch;
  try {
    arguments = parse_arguments(argc, argv);
    if (arguments.help) return std::fputs(kRunUsage, stdout) < 0;
    if (options.command.empty()) throw InvalidArgumentError("say which program to run");
    plan_workers(arguments);
  } catch (const Error& error) {
    return fail(2, std::string(error.what()) + " (see distribute run --help)");
  }
  const char* ssh = std::getenv("DISTRIBUTE_SSH");
  options.ssh = ssh ? ssh : "";
  try {
    check_program(options);
  } catch (const NotFoundError& error) {
    return fail(127, error.what());
  } catch (const PermissionDeniedError& error) {
    return fail(126, error.what());
  }
  try {
    return launch::launch(options);
  } catch (const InvalidArgumentError& error) {
    return fail(2, error.what());
  } catch (const PermissionDeniedError& error) {  // found, but not made for this machine
    return fail(126, error.what());
  } catch (const Error& error) {
    return fail(1, error.what());
  }
}

}  // namespace distribute_tools
