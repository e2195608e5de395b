#pragma once
/// Opens the port at which a task of a job is to be found.

#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_tasks.hpp>

#include <string>

namespace distribute::net {
class Listener;
}

namespace distribute::cluster_internal {

/// Listens at options.bind_address, else at `address`; with a token so that other hosts can reach
/// it where /etc/hosts calls the name a loopback address, and says so. While the name of the
/// address is not known it asks again and says so every report interval: the name of a pod of
/// Kubernetes appears after the pod.
/// Throws  UnavailableError for a name that is not known after options.startup_timeout;
///         FailedPreconditionError when the port is taken or the address is another machine's.
net::Listener open_own_port(const std::string& task, const std::string& address,
                            const ClusterOptions& options);

/// Loopback addresses among others: prints that tasks on other hosts cannot reach those tasks.
/// Throws  InvalidArgumentError when this task's is one and another task is on another host.
void check_loopback(const ClusterTasks& tasks, const ClusterOptions& options);

}  // namespace distribute::cluster_internal
