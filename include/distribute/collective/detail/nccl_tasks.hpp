#pragma once
/// Groups of NCCL over the tasks of a job.

#include <distribute/collective/detail/transport.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/net/deadline.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Communicators of the tasks of a job, as many GPUs each, ranks in the tasks' order: the id goes
/// through the runtime's store. `name` tells groups of one job apart. When a task is lost,
/// operations of the others throw the runtime's error.
std::vector<std::unique_ptr<Transport>> make_nccl_transports(
    const std::shared_ptr<ClusterRuntime>& runtime, std::span<const Device> devices,
    const std::string& name, net::Deadline deadline);

/// Why the job's GPUs, of which this task has `devices`, cannot be such a group: a task without
/// NCCL, two replicas on one GPU, several hosts whose traffic is to be encrypted. Empty when they
/// can; the same on all tasks, which all call it.
std::string nccl_group_problem(ClusterRuntime& runtime, std::span<const Device> devices);

}  // namespace distribute::collective
