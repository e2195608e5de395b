#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/address.hpp>
#include <distribute/platforms/slurm_cluster_resolver.hpp>

#include <algorithm>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::string slurm_variable(const Environment& variables,
                                             const std::string& name) {
  const std::optional<std::string> value = variables(name);
  if (value) return *value;
  throw FailedPreconditionError(
      name + " not found in environment. Not running inside a SLURM step? Start with srun");
}

DISTRIBUTE_INLINE int slurm_number(const Environment& variables, const std::string& name) {
  slurm_variable(variables, name);
  return *variables.integer(name);
}

template <typename Pairs>
int64_t sum_of_tasks(const Pairs& pairs) {
  int64_t sum = 0;
  for (const auto& [name, tasks] : pairs) {
    if (tasks < 0)
      throw InvalidArgumentError(str_cat(untrusted::shown(name), " has ", tasks, " tasks"));
    sum += tasks;
  }
  return sum;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE SlurmClusterResolver::SlurmClusterResolver(SlurmClusterResolverOptions options)
    : rank_(cluster_internal::slurm_number(options.variables, "SLURM_PROCID")),
      port_base_(options.port_base),
      jobs_(std::move(options.jobs)) {
  if (jobs_.empty())
    jobs_ = {{"worker", cluster_internal::slurm_number(options.variables, "SLURM_STEP_NUM_TASKS")}};
  read_hosts(options);
  check_tasks();
  read_gpus(options);
  if (options.tasks_of_hosts.empty()) check_placement(options.variables);
  set_rpc_layer(std::move(options.rpc_layer));
}

DISTRIBUTE_INLINE void SlurmClusterResolver::read_hosts(
    const SlurmClusterResolverOptions& options) {
  hosts_ = options.tasks_of_hosts;
  if (!hosts_.empty()) return;
  using cluster_internal::slurm_variable;
  const auto names = expand_hostlist(slurm_variable(options.variables, "SLURM_STEP_NODELIST"));
  std::vector<int> tasks(names.size(), options.tasks_per_node.value_or(0));
  if (!options.tasks_per_node)
    tasks = expand_tasks_per_node(slurm_variable(options.variables, "SLURM_STEP_TASKS_PER_NODE"));
  if (tasks.size() != names.size())
    throw FailedPreconditionError(str_cat("SLURM_STEP_NODELIST names ", names.size(),
                                          " nodes, SLURM_STEP_TASKS_PER_NODE ", tasks.size()));
  for (size_t i = 0; i < names.size(); ++i) hosts_.emplace_back(names[i], tasks[i]);
}

DISTRIBUTE_INLINE void SlurmClusterResolver::check_tasks() const {
  const int64_t wanted = cluster_internal::sum_of_tasks(jobs_);
  const int64_t given = cluster_internal::sum_of_tasks(hosts_);
  if (wanted != given)
    throw FailedPreconditionError(
        str_cat("Requested ", wanted, " tasks but only ", given, " were assigned."));
  if (given > 1'000'000) throw InvalidArgumentError(str_cat(given, " tasks are too many"));
  if (rank_ < 0 || rank_ >= given)
    throw FailedPreconditionError(
        str_cat("SLURM_PROCID is ", rank_, ", but the step has ", given, " tasks"));
}

DISTRIBUTE_INLINE void SlurmClusterResolver::read_gpus(const SlurmClusterResolverOptions& options) {
  int per_node = 0, most = 0;
  if (options.gpus_per_node)
    per_node = *options.gpus_per_node;
  else if (const auto devices = options.variables("CUDA_VISIBLE_DEVICES"))
    per_node = int(untrusted::split_commas(*devices).size());
  else
    per_node = options.variables.integer("SLURM_GPUS_ON_NODE").value_or(0);
  for (const auto& [host, tasks] : hosts_) most = std::max(most, tasks);
  gpus_per_task_ = options.gpus_per_task.value_or(per_node / most);
  if (gpus_per_task_ < 0)
    throw InvalidArgumentError(str_cat("a task cannot have ", gpus_per_task_, " GPUs"));
  if (int64_t(most) * gpus_per_task_ > per_node)
    throw FailedPreconditionError(str_cat("Requested more GPUs per node than available: ", most,
                                          " tasks with ", gpus_per_task_, " each, and ", per_node,
                                          " GPUs"));
}

DISTRIBUTE_INLINE std::pair<int, int> SlurmClusterResolver::place_of_rank() const {
  int node = 0, local = rank_;
  while (local >= hosts_[size_t(node)].second) local -= hosts_[size_t(node++)].second;
  return {node, local};
}

DISTRIBUTE_INLINE void SlurmClusterResolver::check_placement(const Environment& variables) const {
  const auto [node, local] = place_of_rank();
  const int real_node = variables.integer("SLURM_NODEID").value_or(node);
  const int real_local = variables.integer("SLURM_LOCALID").value_or(local);
  if (node == real_node && local == real_local) return;
  throw FailedPreconditionError(
      str_cat("Slurm runs rank ", rank_, " as task ", real_local, " of node ", real_node,
              ", and not as task ", local, " of node ", node,
              ": start with srun --distribution=block, or say tasks_of_hosts in rank order"));
}

DISTRIBUTE_INLINE ClusterSpec SlurmClusterResolver::cluster_spec() const {
  std::vector<std::string> addresses;
  for (const auto& [host, tasks] : hosts_)
    for (int i = 0; i < tasks; ++i)
      addresses.push_back(net::join_host_port(host, int64_t(port_base_) + i));
  ClusterSpec::Jobs jobs;
  auto next = addresses.begin();
  for (const auto& [job, tasks] : jobs_) {
    jobs.emplace(job, std::vector<std::string>(next, next + tasks));
    next += tasks;
  }
  return ClusterSpec(std::move(jobs));
}

DISTRIBUTE_INLINE std::pair<TaskType, int> SlurmClusterResolver::get_task_info() const {
  int index = rank_;
  for (const auto& [job, tasks] : jobs_) {
    if (index < tasks) return {job, index};
    index -= tasks;
  }
  throw InternalError("Slurm rank beyond the jobs");  // check_tasks has compared them
}

DISTRIBUTE_INLINE std::string SlurmClusterResolver::visible_gpus() const {
  const int first = place_of_rank().second * gpus_per_task_;
  std::string list;
  for (int gpu = first; gpu < first + gpus_per_task_; ++gpu)
    list += (list.empty() ? "" : ",") + std::to_string(gpu);
  return list;
}

}  // namespace distribute
