#include "options.hpp"

#include "managed_job.hpp"
#include "tools/flags.hpp"

#include <distribute/base/error.hpp>
#include <distribute/cluster/flags_cluster_resolver.hpp>
#include <distribute/device/math_mode.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <absl/flags/flag.h>
#include <absl/flags/usage.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

using namespace distribute_tools;  // the rules of the table

#define FLAG(type, name, value, rule, text) ABSL_FLAG(type, name, value, (rule).help(text));
#include "trainer_flags.inc"
#undef FLAG

namespace examples {

int usage_error(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 2;
}

bool AbslParseFlag(absl::string_view text, JsonTarget* target, std::string*) {
  target->value = text.empty() || text == "true" ? "-" : std::string(text);
  return true;
}
std::string AbslUnparseFlag(const JsonTarget& target) { return target.value.value_or(""); }

void check_flag(const std::string& problem) {
  if (!problem.empty()) std::exit(usage_error(problem));
}

bool given(const std::string& flag) {
  const std::vector<std::string>& met = given_flags();
  return std::find(met.begin(), met.end(), flag) != met.end();
}

std::vector<FlagValue> flag_values(const TrainerOptions& o) {
  return {
#define FLAG(type, name, value, rule, help) {#name, absl::UnparseFlag(o.name), rule},
#include "trainer_flags.inc"
#undef FLAG
  };
}

std::map<std::string, std::string> agreed_values(const std::vector<FlagValue>& flags) {
  std::map<std::string, std::string> agreed;
  for (const auto& [name, text, rule] : flags) {
    if (rule.agreement == Agreement::Value) agreed[name] = text;
    if (rule.agreement == Agreement::Given)
      agreed[name + " is given"] = text.empty() ? "no" : "yes";
  }
  return agreed;
}

std::string misplaced_flag(const TrainerOptions& o, const std::string& strategy) {
  const std::vector<FlagValue> flags = flag_values(o);
  std::map<std::string, std::string> values;
  for (const FlagValue& flag : flags) values[flag.name] = flag.text;
  values["strategy"] = o.api == "horovod" ? o.api : strategy;
  if (values["strategy"].empty()) values.erase("strategy");
  for (const auto& [name, text, rule] : flags)
    if (const std::string problem = misplaced(name, rule, values); given(name) && !problem.empty())
      return absl::StrReplaceAll(problem, {{"with --strategy=horovod", "with --api=horovod"}});
  return "";
}

namespace {

/// The flags' values, each within its range.
TrainerOptions read_flags() {
  TrainerOptions o;
#define FLAG(type, name, value, rule, help) \
  o.name = absl::GetFlag(FLAGS_##name);     \
  check_flag(#name, o.name, type(value), rule);
#include "trainer_flags.inc"
#undef FLAG
  return o;
}

/// What follows from several flags together.
void complete(TrainerOptions& o) {
  o.cluster = {.job_name = o.job_name,
               .task_index = o.task_index,
               .ps_hosts = o.ps_hosts,
               .worker_hosts = o.worker_hosts,
               .chief_hosts = o.chief_hosts};
  if (o.metrics_port)
    ::setenv("DISTRIBUTE_METRICS_PORT", std::to_string(*o.metrics_port).c_str(), 1);
  if (o.optimizer == "rmsprop" && !given("momentum")) o.momentum = 0;
  if (!given("float32_matmul_precision"))
    o.float32_matmul_precision =
        o.deterministic ? "highest" : distribute::config::get_float32_matmul_precision();
  apply_job_paths(o, o.job_dir);
}

/// What one flag's rule cannot say.
std::string problem_between(const TrainerOptions& o) {
  try {
    if (o.cluster.any()) distribute::FlagsClusterResolver checked(o.cluster);
  } catch (const distribute::InvalidArgumentError& error) {
    return error.what();
  }
  if (o.gce_instance_group.empty())
    for (const char* flag : {"gce_project", "gce_zone", "gce_port", "gce_service"})
      if (given(flag))
        return absl::StrCat("--", flag, " does nothing without --gce_instance_group");
  if (!o.gce_instance_group.empty() && o.cluster.any())
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

TrainerOptions parse_options(int argc, char** argv, const std::string& usage) {
  absl::SetProgramUsageMessage(usage);
  std::vector<std::string> arguments = managed_arguments(argc, argv);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    if (argument == "--json" || argument == "-json") argument = "--json=-";
    pointers.push_back(argument.data());
  }
  const auto rest = distribute_tools::parse_flags(int(pointers.size()), pointers.data());
  if (!rest.empty()) check_flag(absl::StrCat("unexpected argument '", rest[0], "'"));
  TrainerOptions options = read_flags();
  complete(options);
  check_flag(problem_between(options));
  return options;
}

}  // namespace examples
