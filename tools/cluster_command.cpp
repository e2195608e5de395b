#include "cluster_command.hpp"

#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/default_resolver.hpp>

#include <cstdio>

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
      const std::string task = concat(job, " ", index);
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
    text = concat("id ", *role.id_in_cluster, " among ", *role.worker_count, " worker(s)");
  if (*role.is_chief) text += ", chief";
  return text + (role.should_save_checkpoint.value_or(false) ? ", writes checkpoints"
                                                             : ", does not write checkpoints");
}

void explain(const ClusterRole& role, const std::string& reason, std::optional<int> world_size) {
  print_row("seen", reason);
  print_row("cluster", role.cluster ? concat(role.cluster.jobs().size(), " job(s)") : "none");
  print_cluster(role.cluster);
  if (world_size)
    print_row("", concat(*world_size, " worker(s) in all; the others are known to worker 0"));
  print_row("this task", task_name(role));
  print_row("its place", place_in_words(role));
  if (role.master && !role.master->empty()) print_row("master", *role.master);
  if (role.leader && !role.leader->empty()) print_row("leader", *role.leader);
  if (role.rpc_layer) print_row("rpc_layer", *role.rpc_layer);
}

int cluster_command(const ClusterFlags& flags, bool json) {
  try {
    const ImpliedResolver implied = default_resolver({}, flags);
    const ClusterRole role = cluster_role(*implied.resolver);
    if (json)
      std::printf("%s\n", role.to_json().c_str());
    else
      explain(role, implied.reason, implied.resolver->world_size());
    return 0;
  } catch (const Error& error) {
    const bool wrong_value = error.code() == StatusCode::InvalidArgument;
    std::fprintf(stderr, "distribute cluster: %s: %s\n",
                 wrong_value ? "InvalidArgumentError" : "FailedPreconditionError", error.what());
    return 2;
  }
}

}  // namespace distribute_tools
