#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>
#include <distribute/net/address.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void check_address_of_flag(const char* job, const std::string& hosts,
                                             const std::string& address) {
  const auto parsed = net::parse_address(address);
  if (parsed.ok()) return;
  const bool blank = address.find_first_of(" \t;") != std::string::npos;
  throw InvalidArgumentError(str_cat(
      "--", job, "_hosts=", untrusted::shown(hosts), ": ",
      address.empty() ? std::string("an address is empty") : std::string(parsed.status().message()),
      blank ? "; addresses are divided by commas" : ""));
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE bool ClusterFlags::any() const {
  return !job_name.empty() || task_index || !ps_hosts.empty() || !worker_hosts.empty() ||
         !chief_hosts.empty() || !evaluator_hosts.empty();
}

DISTRIBUTE_INLINE FlagsClusterResolver::FlagsClusterResolver(const ClusterFlags& flags,
                                                             std::optional<std::string> rpc_layer) {
  const std::pair<const char*, const std::string*> all[] = {{"ps", &flags.ps_hosts},
                                                            {"worker", &flags.worker_hosts},
                                                            {"chief", &flags.chief_hosts},
                                                            {"evaluator", &flags.evaluator_hosts}};
  ClusterSpec::Jobs jobs;
  for (const auto& [job, hosts] : all) {
    const std::vector<std::string> addresses = untrusted::split_commas(*hosts);
    for (const std::string& address : addresses)
      cluster_internal::check_address_of_flag(job, *hosts, address);
    if (!addresses.empty()) jobs.emplace(job, addresses);
  }
  cluster_spec_ = ClusterSpec(std::move(jobs));
  if (flags.job_name.empty())
    throw InvalidArgumentError(
        "Must specify an explicit --job_name: which job is this process of?");
  const auto is_named = [&](const auto& job) { return flags.job_name == job.first; };
  if (std::none_of(std::begin(all), std::end(all), is_named))
    throw InvalidArgumentError("--job_name=" + flags.job_name +
                               " is unknown; it takes ps, worker, chief, evaluator");
  const bool outside = flags.job_name == TaskType::Evaluator && flags.evaluator_hosts.empty();
  if (!outside && !cluster_spec_.has_job(flags.job_name))
    throw InvalidArgumentError("--job_name=" + flags.job_name + ": no hosts were given for it; " +
                               "add --" + flags.job_name + "_hosts");
  const int count = outside ? 1 : cluster_spec_.num_tasks(flags.job_name);
  if (!flags.task_index && count > 1)
    throw InvalidArgumentError("Must specify an explicit --task_index");
  const int index = flags.task_index.value_or(0);
  if (index < 0 || index >= count)
    throw InvalidArgumentError(str_cat("--task_index=", index, ": --job_name=", flags.job_name,
                                       " has ", count, " task(s)"));
  set_task_type(TaskType(flags.job_name));
  set_task_id(index);
  set_rpc_layer(std::move(rpc_layer));
}

}  // namespace distribute
