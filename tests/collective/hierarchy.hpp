#pragma once
/// Groups whose ranks share simulated hosts, inside one process.

#include <distribute/collective/detail/hierarchical_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/collective/tcp_mesh.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace hierarchy {

using namespace tcp_mesh;

/// The first `ranks` of hosts with {2, 1, ...} ranks each, counted round and round.
inline std::vector<int> hosts_of(const std::vector<int>& sizes, int ranks) {
  std::vector<int> result;
  for (int host = 0; int(result.size()) < ranks; ++host)
    result.insert(result.end(), size_t(sizes[size_t(host) % sizes.size()]), host);
  result.resize(size_t(ranks));
  return result;
}

inline std::vector<std::unique_ptr<Transport>> make_hierarchy(const std::vector<int>& hosts,
                                                              int flows = 1,
                                                              const TcpOptions& options = {}) {
  const HostLayout layout(hosts);
  std::vector<std::shared_ptr<Window>> windows;
  for (int host = 0; host < layout.hosts(); ++host) {
    const int members = int(layout.members(host).size());
    windows.push_back(members > 1 ? Window::in_process(members) : nullptr);
  }
  std::vector<std::unique_ptr<Transport>> group;
  for (TcpMesh& mesh : make_meshes(int(hosts.size()), flows, false)) {
    const auto& window = windows[size_t(layout.host_of(mesh.rank))];
    group.push_back(
        std::make_unique<HierarchicalTransport>(std::move(mesh), hosts, window, options));
  }
  return group;
}

inline contract::MakeGroup hosts_with(std::vector<int> sizes, int flows = 1,
                                      const TcpOptions& options = {}) {
  return [=](int ranks) { return make_hierarchy(hosts_of(sizes, ranks), flows, options); };
}

}  // namespace hierarchy
