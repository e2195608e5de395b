#pragma once
/// NCCL groups over the tasks of a job.

#include <distribute/collective/detail/transport.hpp>
#include <distribute/device/device_spec.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/message.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute {
class ClusterRuntime;
}

namespace distribute::collective {

/// Makes communicators of the tasks of a job, which have the same number of GPUs, with ranks in the
/// tasks' order: the id goes through the runtime's store. `name` distinguishes groups of one job.
/// When a task is lost, operations of the others throw the runtime's error.
std::vector<std::unique_ptr<Transport>> make_nccl_transports(
    const std::shared_ptr<ClusterRuntime>& runtime, std::span<const Device> devices,
    const std::string& name, net::Deadline deadline);

/// A task's description of its GPUs before they form a group.
struct GpuReport {
  std::string problem = {};           // why it cannot take part; empty if it can
  std::vector<std::string> ids = {};  // PCI bus ids, one for each GPU

  void fields(net::FieldVisitor& visit) { visit("problem", problem)("ids", ids); }
};

/// Returns why the job's GPUs, of which this task has `devices`, cannot form a group: a task
/// without NCCL, two replicas on one GPU, several hosts whose traffic must be encrypted. Empty when
/// they can. All tasks call it and get the same text.
std::string nccl_group_problem(ClusterRuntime& runtime, std::span<const Device> devices);

}  // namespace distribute::collective
