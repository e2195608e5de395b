#pragma once
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/detail/nccl_tasks.hpp>
#include <distribute/collective/detail/nccl_transport.hpp>
#include <distribute/device/detail/cuda_device.hpp>

#include <set>

namespace distribute::collective {

DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> make_nccl_transports(
    const std::shared_ptr<ClusterRuntime>& runtime, std::span<const Device> devices,
    const std::string& name, net::Deadline deadline) {
  const std::string key = "nccl/" + name;
  const NcclUniqueId id = share_nccl_id(
      runtime->rank() == 0, [&](const std::string& text) { runtime->set(key, text, deadline); },
      [&] { return runtime->get(key, deadline); });
  const int each = int(devices.size());
  return meet_over_nccl(devices, runtime->rank() * each, runtime->size() * each, id, deadline,
                        [runtime] { runtime->throw_if_lost(); });
}

DISTRIBUTE_INLINE std::string nccl_group_problem(ClusterRuntime& runtime,
                                                 std::span<const Device> devices) {
  const std::vector<int>& hosts = runtime.hosts();
  if (runtime.options().tls && std::set<int>(hosts.begin(), hosts.end()).size() > 1)
    return "NCCL does not encrypt what it sends to other hosts, and DISTRIBUTE_TLS=1";
  GpuReport mine{.problem = nccl_problem()};
  if (mine.problem.empty())
    for (const Device device : devices) mine.ids.push_back(gpu_info(device).pci_bus_id);
  const auto all = runtime.all_gather("GPUs of the replicas", net::encode_message(mine));
  std::set<std::string> seen;
  for (size_t r = 0; r < all.size(); ++r) {
    const auto theirs = value_or_throw(net::parse_message<GpuReport>(all[r], "report of GPUs"));
    if (!theirs.problem.empty()) return str_cat("task ", r, ": ", theirs.problem);
    for (const std::string& id : theirs.ids)
      if (!seen.insert(str_cat(hosts[r], ' ', id)).second)
        return str_cat("two replicas share GPU ", id, " of a host, which NCCL refuses");
  }
  return "";
}

}  // namespace distribute::collective
