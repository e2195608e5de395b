#pragma once
/// Opens the port of a task.

#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>

#include <string>

namespace distribute::net {
class Listener;
}

namespace distribute::cluster_internal {

/// Listens at options.bind_address, else at `address`. With a token it also listens for other hosts
/// when /etc/hosts maps the name to a loopback address, and logs that. While the name cannot be
/// resolved it tries again and logs that every report interval: the name of a pod of Kubernetes
/// appears after the pod.
/// Throws  UnavailableError for a name that cannot be resolved within options.startup_timeout;
///          FailedPreconditionError when the port is taken or the address is another machine's.
net::Listener open_own_port(const std::string& task, const std::string& address,
                            const ClusterOptions& options);

/// Checks for loopback addresses among others: prints that tasks on other hosts cannot reach those
/// tasks.
/// Throws  InvalidArgumentError when this task has such an address and another task is on another
///          host.
void check_loopback(const ClusterTasks& tasks, const ClusterOptions& options);

}  // namespace distribute::cluster_internal
