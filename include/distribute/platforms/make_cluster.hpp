#pragma once
/// Makes commands and scripts that start a cluster of machines.

#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_spec.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// Makes a script for sh that every host runs: `sh boot.sh PROGRAM ARGUMENTS`. It identifies the
/// host by its names and addresses (or --host NAME), sets TF_CONFIG, refuses to start without the
/// job's token, and runs the tasks of one host side by side.
std::string boot_script(const ClusterSpec& cluster);

/// The hosts of each job. Entries are "host" or "host:port" ("[::1]:port" for IPv6).
struct ClusterHosts {
  std::vector<std::string> chief = {}, worker = {}, ps = {}, evaluator = {};
  int port = 2222;  // first port for entries without one; further tasks of a host count up
};

/// Makes the cluster of these hosts. It includes an evaluator, because the program that starts the
/// tasks needs its address; training ignores it.
/// Throws  InvalidArgumentError for a host that is named twice in a job without a port, an address
///         of two tasks, an invalid name, a port out of range, two chiefs or evaluators, and a
///         cluster with neither chief nor worker.
ClusterSpec make_cluster(const ClusterHosts& hosts);

/// The number of hosts for each role; the remaining hosts are workers. The first host of a list is
/// the chief, then come parameter servers, workers, and last the evaluator.
struct HostRoles {
  int chiefs = 0, ps = 0, evaluators = 0;
};
/// Assigns the roles to hosts.
/// Throws  InvalidArgumentError when there are fewer hosts than roles, or no host is left to train.
ClusterHosts deal_roles(const std::vector<std::string>& hosts, HostRoles roles);

/// Lists the hosts of this Slurm allocation, from SLURM_JOB_NODELIST.
/// Throws  FailedPreconditionError outside of an allocation.
std::vector<std::string> hosts_of_slurm(const Environment& variables = {});
/// Lists the running instances in the output of `aws emr list-instances`, by their private names.
/// Throws  InvalidArgumentError, which names `source`, for other text, or when no instance is
///         running.
std::vector<std::string> hosts_of_emr(std::string_view json, const std::string& source);

/// Formats {"cluster": ..., "task": {"type": ..., "index": ...}} in one line. Other tasks' clusters
/// leave out evaluators.
std::string tf_config_of(const ClusterSpec& cluster, const std::string& type, int index);

/// Gives the host of an address: "host-a" for "host-a:2222", "::1" for "[::1]:2222".
std::string host_of_address(const std::string& address);

}  // namespace distribute
