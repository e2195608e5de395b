#pragma once
/// Commands and scripts that make a cluster of machines.

#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/environment.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// For sh: `sh boot.sh PROGRAM ARGUMENTS`, the same file on every host. It finds the host by its
/// names and addresses (or --host NAME), sets TF_CONFIG, refuses to start without the job's token,
/// and runs several tasks of a host side by side.
std::string boot_script(const ClusterSpec& cluster);

/// Entries are "host" or "host:port" ("[::1]:port" for IPv6).
struct ClusterHosts {
  std::vector<std::string> chief = {}, worker = {}, ps = {}, evaluator = {};
  int port = 2222;  // of entries without one: the first task of a host has it, the next the next
};

/// Makes the cluster of these hosts. An evaluator is in the list, too: the program that starts the
/// tasks needs its address; training ignores it.
/// Throws  InvalidArgumentError for a host that is named twice in a job without a port, an address
///         that two tasks have, a name that is none, a port out of range, two chiefs or evaluators,
///         and a cluster with neither chief nor worker.
ClusterSpec make_cluster(const ClusterHosts& hosts);

/// How many of a list of hosts are what; the rest are workers. The list's first hosts are the
/// chief, then come parameter servers, workers, and the evaluator last.
struct HostRoles {
  int chiefs = 0, ps = 0, evaluators = 0;
};
/// Throws  InvalidArgumentError when there are fewer hosts than that, or none is left to train.
ClusterHosts deal_roles(const std::vector<std::string>& hosts, HostRoles roles);

/// The hosts of this Slurm allocation, from SLURM_JOB_NODELIST.
/// Throws  FailedPreconditionError outside of one.
std::vector<std::string> hosts_of_slurm(const Environment& variables = {});
/// The running instances in what `aws emr list-instances` prints, by their private names.
/// Throws  InvalidArgumentError for other text, or when none is running. `source` is its name.
std::vector<std::string> hosts_of_emr(std::string_view json, const std::string& source);

/// {"cluster": ..., "task": {"type": ..., "index": ...}} in one line. Evaluators are left out of
/// the cluster of the others.
std::string tf_config_of(const ClusterSpec& cluster, const std::string& type, int index);

/// "host-a" of "host-a:2222", "::1" of "[::1]:2222".
std::string host_of_address(const std::string& address);

}  // namespace distribute
