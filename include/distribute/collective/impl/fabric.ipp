#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/fabric.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace distribute::collective {

namespace fabric_internal {

DISTRIBUTE_INLINE std::string line_of(const std::filesystem::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

/// EFA's devices have a driver's name of their own, and no link layer.
DISTRIBUTE_INLINE FabricKind kind_of(const std::filesystem::path& device,
                                     const std::filesystem::path& port) {
  std::error_code error;
  const auto driver = std::filesystem::read_symlink(device / "device/driver", error);
  if (driver.filename() == "efa") return FabricKind::Efa;
  return line_of(port / "link_layer") == "Ethernet" ? FabricKind::RoCE : FabricKind::InfiniBand;
}

DISTRIBUTE_INLINE const char* name_of(FabricKind kind) {
  switch (kind) {
    case FabricKind::InfiniBand: return "InfiniBand";
    case FabricKind::RoCE: return "RoCE";
    case FabricKind::Efa: break;
  }
  return "EFA";
}

}  // namespace fabric_internal

DISTRIBUTE_INLINE std::string FabricPort::text() const {
  return str_cat(device, " (", fabric_internal::name_of(kind), rate.empty() ? "" : ", ", rate, ")");
}

DISTRIBUTE_INLINE std::vector<FabricPort> fabric_ports(const std::string& folder) {
  namespace fs = std::filesystem;
  using fabric_internal::line_of;
  std::vector<FabricPort> found;
  std::error_code error;
  for (const auto& device : fs::directory_iterator(folder, error))
    for (const auto& port : fs::directory_iterator(device.path() / "ports", error))
      if (line_of(port.path() / "state").ends_with("ACTIVE"))
        found.push_back({fabric_internal::kind_of(device.path(), port.path()),
                         device.path().filename(), line_of(port.path() / "rate")});
  std::sort(found.begin(), found.end(),
            [](const FabricPort& a, const FabricPort& b) { return a.device < b.device; });
  return found;
}

DISTRIBUTE_INLINE std::optional<std::string> fabric_advice(
    const std::vector<FabricPort>& ports, const std::vector<EngineKind>& installed) {
  if (ports.empty()) return {};
  const auto has = [&](EngineKind kind) {
    return std::find(installed.begin(), installed.end(), kind) != installed.end();
  };
  // UCX reaches InfiniBand and RoCE by verbs; EFA's own protocol is in libfabric, below an MPI.
  if (ports.front().kind != FabricKind::Efa)
    return has(EngineKind::Ucx) ? "DISTRIBUTE_TRANSPORT=ucx takes it"
                                : "DISTRIBUTE_TRANSPORT=ucx would take it, with the module "
                                  "libdistribute_ucx.so (docs/engines.md)";
  return has(EngineKind::OpenMpi) || has(EngineKind::Mpich)
             ? "DISTRIBUTE_TRANSPORT=mpi takes it, with an MPI over libfabric and its mpirun"
             : "DISTRIBUTE_TRANSPORT=mpi would take it, with an MPI over libfabric and the module "
               "for it (docs/engines.md)";
}

DISTRIBUTE_INLINE std::vector<EngineKind> installed_engines() {
  std::vector<EngineKind> installed;
  std::string problem;
  for (const EngineKind kind : kEngineKinds)
    if (find_engine(kind, problem)) installed.push_back(kind);
  return installed;
}

}  // namespace distribute::collective
