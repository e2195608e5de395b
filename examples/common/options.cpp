#include "options.hpp"

#include "managed_job.hpp"
#include "tools/cluster_flags.hpp"

#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/coordinator/server.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

using namespace distribute_tools;  // the rules of the table

namespace examples {

int usage_error(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", with_short_words(message).c_str());
  return 2;
}

bool AbslParseFlag(absl::string_view text, JsonTarget* target, std::string*) {
  target->value = text.empty() || text == "true" ? "-" : std::string(text);
  return true;
}
std::string AbslUnparseFlag(const JsonTarget& target) { return target.value.value_or(""); }

namespace {

CommandLine command_line;  // of the last parse_options
Words all_words;           // of its command line

/// Returns the cluster that the words name, whatever else is wrong with them.
distribute::ClusterFlags cluster_in(const Words& words) {
  distribute::ClusterFlags cluster;
  for (size_t i = 0; i < words.size(); ++i)
    for (const CommandFlag& flag : with_cluster_flags<distribute::ClusterFlags>({})) {
      const std::string name =
          words[i].substr(std::min(words[i].find_first_not_of('-'), size_t(2)));
      if (name == flag.name && i + 1 < words.size()) flag.read(&cluster, words[i + 1]);
      if (absl::StartsWith(name, flag.name + "="))
        flag.read(&cluster, name.substr(flag.name.size() + 1));
    }
  return cluster;
}

/// The parameter servers of a process whose command line is wrong do not wait for it.
void tell_servers() {
  try {
    const auto resolver = distribute::default_resolver({}, cluster_in(all_words)).resolver;
    if (resolver) distribute::Server::report_failure(*resolver);
  } catch (const std::exception&) {  // the reason of the end is told already
  }
}

}  // namespace

void check_flag(const std::string& problem) {
  if (problem.empty()) return;
  const int status = usage_error(problem);
  tell_servers();
  std::exit(status);
}

bool given(const std::string& flag) { return command_line.count(flag) > 0; }

const std::vector<CommandFlag>& trainer_flags() {
  static const std::vector<CommandFlag> flags = [] {
    Rows<TrainerOptions> own;
#define GROUP(heading) own.group = heading;
#define FLAG(type, name, value, rule, help) own.add(#name, &TrainerOptions::name, rule, help);
#include "trainer_flags.inc"
#undef FLAG
#undef GROUP
    const auto rows = with_cluster_flags<TrainerOptions>(std::move(own.rows));
    return std::vector<CommandFlag>(rows.begin(), rows.end());
  }();
  return flags;
}

std::map<std::string, std::string> agreed_values(const std::vector<CommandFlag>& table,
                                                 const void* options) {
  std::map<std::string, std::string> agreed;
  for (const CommandFlag& flag : table) {
    const std::string text = flag.text(options);
    if (flag.rule.agreement == Agreement::Value) agreed[flag.name] = text;
    if (flag.rule.agreement == Agreement::Given)
      agreed[flag.name + " is given"] = text.empty() ? "no" : "yes";
  }
  return agreed;
}

std::string misplaced_flag(const TrainerOptions& o, const std::string& strategy) {
  std::map<std::string, std::string> values;
  for (const CommandFlag& flag : trainer_flags()) values[flag.name] = flag.text(&o);
  values["strategy"] = o.api == "horovod" ? o.api : strategy;
  if (values["strategy"].empty()) values.erase("strategy");
  for (const auto& [flag, text] : command_line.flags)
    if (const std::string problem = misplaced(flag.name, flag.rule, values); !problem.empty())
      return absl::StrReplaceAll(problem, {{"with --strategy=horovod", "with --api=horovod"}});
  return "";
}

namespace {

/// What follows from several flags together.
void complete(TrainerOptions& o) {
  if (o.metrics_port)
    ::setenv("DISTRIBUTE_METRICS_PORT", std::to_string(*o.metrics_port).c_str(), 1);
  if (o.optimizer == "rmsprop" && !given("momentum")) o.momentum = 0;
  if (!given("float32_matmul_precision"))
    o.float32_matmul_precision =
        o.deterministic ? "highest" : distribute::config::get_float32_matmul_precision();
  (void)distribute::ClusterOptions::from_environment();  // of a process alone, too
  apply_job_paths(o, o.job_dir);
}

/// What one flag's rule cannot say.
std::string problem_between(const TrainerOptions& o) {
  try {
    if (o.cluster().any()) distribute::FlagsClusterResolver checked(o.cluster());
  } catch (const distribute::InvalidArgumentError& error) {
    return error.what();
  }
  if (o.gce_instance_group.empty())
    for (const char* flag : {"gce_project", "gce_zone", "gce_port", "gce_service"})
      if (given(flag))
        return absl::StrCat("--", flag, " does nothing without --gce_instance_group");
  if (!o.gce_instance_group.empty() && o.cluster().any())
    return "--gce_instance_group and the hosts of --worker_hosts and others exclude each other";
  if (o.strategy == "one_device" && o.replicas > 1)
    return absl::StrCat("--strategy=one_device has one replica, not --replicas=", o.replicas);
  if (o.elastic && !o.restore_position)
    return "--elastic takes over positions in the data; leave out --norestore_position";
  if (o.max_workers != 0 && o.max_workers < o.min_workers)
    return "--max_workers must be at least --min_workers";
  if (o.sync_replicas > 0 && o.max_staleness >= 0)
    return "--sync_replicas and --max_staleness exclude each other";
  if (o.sync_replicas > 0 && o.coordinator == "true")
    return "--sync_replicas needs workers with loops of their own: --coordinator=false";
  if (o.batch_size % (o.accumulate_steps * o.replicas) != 0 && o.accumulate_steps > 1)
    return "--batch_size must be a multiple of --accumulate_steps times --replicas";
  if (o.loss_csv.find("://") != std::string::npos)
    return "--loss_csv=" + o.loss_csv + " must be on a local disk: it grows with every step";
  return "";
}

}  // namespace

TrainerOptions parse_options(int argc, char** argv, const std::string& usage,
                             const std::vector<CommandFlag>& own, void* own_options) {
  TrainerOptions options;
  const auto is_own = [&](const CommandFlag& flag) {
    return std::any_of(own.begin(), own.end(), [&](const auto& o) { return o.name == flag.name; });
  };
  const auto place_of = [&](const CommandFlag& flag) {
    return is_own(flag) ? own_options : &options;
  };
  Command program{.name = "", .arguments = "", .help = usage, .flags = own};
  program.flags.insert(program.flags.end(), trainer_flags().begin(), trainer_flags().end());
  program.initial = [&](const CommandFlag& flag) { return initial_text(flag, place_of(flag)); };
  program.program = distribute::io::file_name_of(argv[0]);
  Words words = all_words = managed_arguments(argc, argv, program.flags);
  for (std::string& word : words)
    if (word == "--json" || word == "-json") word = "--json=-";
  command_line = read_command_line(program, words, tell_servers);
  for (const auto& [flag, text] : command_line.flags) check_flag(flag.read(place_of(flag), text));
  try {
    complete(options);
  } catch (const distribute::Error& error) {  // of a variable of the environment
    check_flag(error.what());
  }
  check_flag(problem_between(options));
  all_words.clear();
  return options;
}

}  // namespace examples
