#pragma once
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/detail/nccl_tasks.hpp>
#include <distribute/collective/detail/nccl_transport.hpp>
#include <distribute/device/detail/cuda_device.hpp>

#include <set>
#include <sstream>

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
  constexpr char kProblem = '!';
  std::string mine = nccl_problem();
  if (!mine.empty()) mine.insert(0, 1, kProblem);
  if (mine.empty())
    for (const Device device : devices) mine += gpu_info(device).pci_bus_id + "\n";
  const auto all = runtime.all_gather("GPUs of the replicas", mine);
  std::set<std::string> seen;
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].starts_with(kProblem)) return str_cat("task ", r, ": ", all[r].substr(1));
    std::istringstream ids(all[r]);
    for (std::string id; std::getline(ids, id);)
      if (!seen.insert(str_cat(hosts[r], ' ', id)).second)
        return str_cat("two replicas share GPU ", id, " of a host, which NCCL refuses");
  }
  return "";
}

}  // namespace distribute::collective
