#include "cluster_flags.hpp"
#include "commands.hpp"

#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/platforms/job_paths.hpp>

#include <cstdio>
#include <cstdlib>

namespace distribute_tools {

using namespace distribute;

/// "worker 1"
std::string task_name(const ClusterRole& role) {
  if (!role.task_type) return "not said";
  const std::string index = role.task_id ? " " + std::to_string(*role.task_id) : "";
  return role.task_type->name() + (role.task_id ? index : ", its index is not said");
}

void print_row(const char* title, const std::string& text) {
  std::printf("%-12s %s\n", title, text.c_str());
}

void print_cluster(const ClusterSpec& cluster) {
  std::map<std::string, std::string> owners;
  for (const auto& [job, tasks] : cluster.as_dict()) {
    if (tasks.size() == 0) print_row("", job + ": no tasks");
    for (const auto& [index, address] : tasks.by_index()) {
      const std::string task = str_cat(job, " ", index);
      print_row("", task + "  " + address);
      const auto [owner, is_new] = owners.emplace(address, task);
      if (!is_new) print_row("warning", owner->second + " and " + task + " have one address");
    }
  }
}

std::string place_in_words(const ClusterRole& role) {
  if (!role.cluster) return "alone: trains and saves by itself";
  if (!role.is_chief) return role.problem;
  std::string text = role.task_type ? "" : "unknown";
  if (role.task_type == TaskType::Evaluator)
    text = "evaluator, outside of training";
  else if (role.task_type == TaskType::ParameterServer)
    text = "parameter server";
  else if (role.id_in_cluster && role.worker_count)
    text = str_cat("id ", *role.id_in_cluster, " among ", *role.worker_count, " worker(s)");
  if (*role.is_chief) text += ", chief";
  return text + (role.should_save_checkpoint.value_or(false) ? ", writes checkpoints"
                                                             : ", does not write checkpoints");
}

void explain(const ClusterRole& role, const std::string& reason) {
  print_row("seen", reason);
  print_row("cluster", role.cluster ? str_cat(role.cluster.jobs().size(), " job(s)") : "none");
  print_cluster(role.cluster);
  if (role.world_size)
    print_row("", str_cat(*role.world_size, " worker(s) in all; the others are known to worker 0"));
  print_row("this task", task_name(role));
  print_row("its place", place_in_words(role));
  if (role.master && !role.master->empty()) print_row("master", *role.master);
  if (role.leader && !role.leader->empty()) print_row("leader", *role.leader);
  if (role.rpc_layer) print_row("rpc_layer", *role.rpc_layer);
}

/// Throws  InvalidArgumentError for an address that trainers refuse.
void check_addresses(const ClusterSpec& cluster) {
  for (const auto& [job, tasks] : cluster.as_dict())
    for (const auto& [index, address] : tasks.by_index())
      check_tasks({.members = {{job, index, address}}, .rank = 0});
}

bool leaves_this_machine(const ClusterSpec& cluster) {
  for (const auto& [job, tasks] : cluster.as_dict())
    for (const auto& [index, address] : tasks.by_index())
      if (const auto parsed = net::parse_address(address);
          parsed.ok() && !parsed->is_loopback() && parsed->host != "localhost")
        return true;
  return false;
}

/// Whether the tasks would let each other in.
struct TokenState {
  std::string text;
  bool lets_start = true;
};

TokenState token_state(const ClusterSpec& cluster) {
  const auto token = net::job_token_from_environment();
  if (!token.ok()) return {std::string(token.status().message()), false};
  if (!token->empty()) return {str_cat(token->size(), " bytes")};
  if (Environment().flag("DISTRIBUTE_INSECURE", false))
    return {"none, and DISTRIBUTE_INSECURE=1: every program on the network may join"};
  if (!leaves_this_machine(cluster)) return {};
  return {
      "MISSING: the tasks will not start; give all of them the same secret in "
      "DISTRIBUTE_JOB_TOKEN or DISTRIBUTE_JOB_TOKEN_FILE (in Kubernetes from a Secret)",
      false};
}

void print_paths(const JobPaths& paths) {
  if (paths.service.empty()) return;
  print_row("files", "as " + paths.service + " says");
  const std::pair<const char*, const std::string*> all[] = {{"model", &paths.model},
                                                            {"checkpoints", &paths.checkpoints},
                                                            {"logs", &paths.logs},
                                                            {"output", &paths.output}};
  for (const auto& [name, path] : all)
    if (!path->empty()) print_row("", str_cat(name, "  ", *path));
  for (const auto& [name, path] : paths.channels)
    print_row("", str_cat("channel ", name, "  ", path));
  for (const auto& [name, value] : paths.hyperparameters)
    print_row("", str_cat("hyperparameter ", name, " = ", value));
}

struct Options : ClusterFlags {
  bool json = false, ready = false;
};

/// A readiness probe.
int probe() {
  const std::string why_not = not_ready_because(ready_file_path());
  if (why_not.empty()) return kExitDone;
  std::fprintf(stderr, "distribute cluster: not ready: %s\n", why_not.c_str());
  return kExitFailed;
}

int show_cluster(const ClusterFlags& flags, bool json) {
  try {
    const ImpliedResolver implied = implied_resolver({}, flags);
    const ClusterRole role = cluster_role(*implied.resolver);
    const TokenState token = token_state(role.cluster);
    if (json) {  // else it is explained first
      check_complete(role);
      check_addresses(role.cluster);
      std::printf("%s\n", role.to_json().c_str());
    } else {
      explain(role, implied.reason);
      if (!token.text.empty()) print_row("job token", token.text);
      print_paths(read_job_paths());
    }
    check_complete(role);
    check_addresses(role.cluster);
    const bool has_place = !role.cluster || (role.is_chief && role.task_type && role.task_id);
    return json || (has_place && token.lets_start) ? kExitDone : kExitFailed;
  } catch (const Error& error) {
    std::fprintf(stderr, "distribute cluster: %s\n", error.what());
    return 2;
  }
}

Command cluster_command() {
  using O = Options;
  return make_command<O>(
      "cluster", "", "what TF_CONFIG, a launcher's variables or these flags say about this task",
      with_cluster_flags<O>(
          {{"json", &O::json, "print one JSON object instead of an explanation"},
           {"ready", &O::ready,
            "only whether the task that writes DISTRIBUTE_READY_FILE has met the others: status 0, "
            "or 1 and why not"}}),
      [](const O& options, const CommandLine&) {
        return options.ready ? probe() : show_cluster(options, options.json);
      });
}

}  // namespace distribute_tools
