#pragma once
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/group_links.hpp>
#include <distribute/collective/detail/shared_window.hpp>
#include <distribute/collective/detail/spin_time.hpp>
#include <distribute/collective/detail/tcp_transport.hpp>
#include <distribute/collective/detail/window_transport.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE bool share_a_host(const ClusterRuntime& runtime,
                                    const std::vector<int>& members) {
  if (wanted_transport() == WantedTransport::Tcp) return false;
  const auto& hosts = runtime.hosts();
  return std::all_of(members.begin(), members.end(),
                     [&](int rank) { return hosts[size_t(rank)] == hosts[size_t(members[0])]; });
}

DISTRIBUTE_INLINE std::unique_ptr<Transport> connect_by_tcp(
    const std::shared_ptr<ClusterRuntime>& runtime, GroupPlace place) {
  const std::vector<int>& members = place.tasks;
  prepare_links(*runtime, 1, int(members.size()));
  TcpMesh mesh{.rank = place.rank, .flows = {}, .links = nullptr};
  mesh.flows.resize(members.size());
  for (const int peer : first_peers(place.rank, int(members.size())))
    mesh.flows[size_t(peer)].push_back(first_link(*runtime, place, peer));
  const auto& hosts = runtime->hosts();
  const auto here = std::count_if(members.begin(), members.end(), [&](int task) {
    return hosts[size_t(task)] == hosts[size_t(runtime->rank())];
  });
  mesh.links = std::make_unique<GroupLinks>(runtime, std::move(place));
  return std::make_unique<TcpTransport>(std::move(mesh),
                                        TcpOptions{.spin_seconds = useful_spin(int(here))});
}

DISTRIBUTE_INLINE std::shared_ptr<Communicator> make_communicator(
    const std::shared_ptr<ClusterRuntime>& runtime, const std::string& name,
    std::unique_ptr<Transport> transport, const CommunicationOptions& options) {
  CommunicatorOptions result;
  result.timeout_seconds = options.timeout_seconds.value_or(runtime->options().operation_timeout);
  result.timeline_row = name;
  result.on_failure = [runtime](const Error& error, const FlightRecorder&) {
    if (error.code() == StatusCode::Unavailable)
      runtime->wait_lost(net::Deadline::after_seconds(2));  // which task it was
    else
      runtime->report_error(error.code(), error.what());
    runtime->throw_if_lost();
  };
  return std::make_shared<Communicator>(std::move(transport), result);
}

DISTRIBUTE_INLINE std::shared_ptr<Communicator> connect_members(
    const std::shared_ptr<ClusterRuntime>& runtime, const std::string& name,
    const std::vector<int>& members, const CommunicationOptions& options) {
  const auto found = std::find(members.begin(), members.end(), runtime->rank());
  const bool member = found != members.end();
  const int mine = int(found - members.begin());
  const int number = runtime->next_number(name);
  std::shared_ptr<Window> window;
  if (share_a_host(*runtime, members)) {
    std::string reason;
    const std::vector<int> alone{runtime->rank()};
    window = share_window(*runtime, name, member ? members : alone, 1, reason);
    if (!window)
      runtime->options().print(str_cat("no shared memory for ", name, ", TCP is used: ", reason));
  }
  if (!member) return nullptr;
  std::unique_ptr<Transport> transport;
  if (window)
    transport = std::make_unique<WindowTransport>(window, mine, "shm");
  else
    transport =
        connect_by_tcp(runtime, {.name = name, .number = number, .rank = mine, .tasks = members});
  return make_communicator(runtime, name, std::move(transport), options);
}

}  // namespace distribute::collective
