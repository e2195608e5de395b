#pragma once
/// Fast networks of this host (InfiniBand, RoCE, EFA), which TCP does not use by itself.

#include <distribute/base/config.hpp>
#include <distribute/collective/engine.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::collective {

enum class FabricKind { InfiniBand, RoCE, Efa };

/// A port that is up, as the kernel shows it in /sys/class/infiniband.
struct FabricPort {
  FabricKind kind = FabricKind::InfiniBand;
  std::string device;  // "mlx5_0"
  std::string rate;    // "200 Gb/sec (4X HDR)"; empty if the kernel does not say it

  /// Returns "mlx5_0 (InfiniBand, 200 Gb/sec (4X HDR))".
  std::string text() const;
};

/// Returns the ports that are up, sorted by device.
std::vector<FabricPort> fabric_ports(const std::string& folder = "/sys/class/infiniband");

/// Returns what a job with collectives in host memory should take for these ports: a value of
/// DISTRIBUTE_TRANSPORT, and what has to be installed first if `installed` lacks it. No port, no
/// advice.
std::optional<std::string> fabric_advice(const std::vector<FabricPort>& ports,
                                         const std::vector<EngineKind>& installed);

/// Returns the engines whose modules this process can open.
std::vector<EngineKind> installed_engines();

}  // namespace distribute::collective
