/// Ports as drivers show them in /sys/class/infiniband.
#include <distribute/collective/detail/fabric.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>

using namespace distribute::collective;

namespace {

struct Port {
  std::string device, driver, state, link_layer, rate;
};

/// A folder with these ports, each number 1 of its device.
void write_ports(const TemporaryDirectory& folder, const std::vector<Port>& ports) {
  namespace fs = std::filesystem;
  for (const Port& port : ports) {
    const fs::path device = folder / port.device, files = device / "ports/1";
    fs::create_directories(files);
    fs::create_directories(device / "device");
    fs::create_symlink("../../../bus/pci/drivers/" + port.driver, device / "device/driver");
    std::ofstream(files / "state") << port.state << '\n';
    std::ofstream(files / "link_layer") << port.link_layer << '\n';
    std::ofstream(files / "rate") << port.rate << '\n';
  }
}

}  // namespace

TEST_CASE("ports of a fabric are those that are up", "[fabric]") {
  const TemporaryDirectory folder;
  write_ports(folder, {{"mlx5_1", "mlx5_core", "4: ACTIVE", "Ethernet", "100 Gb/sec (4X EDR)"},
                       {"mlx5_0", "mlx5_core", "4: ACTIVE", "InfiniBand", "200 Gb/sec (4X HDR)"},
                       {"mlx5_2", "mlx5_core", "1: DOWN", "InfiniBand", "10 Gb/sec (4X SDR)"},
                       {"rdmap0s6", "efa", "4: ACTIVE", "Unspecified", "100 Gb/sec (4X EDR)"}});
  const auto ports = fabric_ports(folder.path());
  REQUIRE(ports.size() == 3);
  CHECK(ports[0].text() == "mlx5_0 (InfiniBand, 200 Gb/sec (4X HDR))");
  CHECK(ports[1].text() == "mlx5_1 (RoCE, 100 Gb/sec (4X EDR))");
  CHECK(ports[2].text() == "rdmap0s6 (EFA, 100 Gb/sec (4X EDR))");
}

TEST_CASE("a host without a fabric has no ports", "[fabric]") {
  const TemporaryDirectory folder;
  CHECK(fabric_ports(folder.path()).empty());
  CHECK(fabric_ports(folder / "missing").empty());
  CHECK_FALSE(fabric_advice({}, {EngineKind::Ucx}));
}

TEST_CASE("the engine for a fabric is named, and what it lacks", "[fabric]") {
  const FabricPort infiniband{.device = "mlx5_0"};
  const FabricPort efa{.kind = FabricKind::Efa, .device = "rdmap0s6"};
  CHECK_THAT(*fabric_advice({infiniband}, {EngineKind::Ucx}),
             Contains("DISTRIBUTE_TRANSPORT=ucx takes it"));
  CHECK_THAT(*fabric_advice({infiniband}, {EngineKind::Mpich}), Contains("libdistribute_ucx.so"));
  CHECK_THAT(*fabric_advice({efa}, {EngineKind::OpenMpi}),
             Contains("DISTRIBUTE_TRANSPORT=mpi takes it"));
  CHECK_THAT(*fabric_advice({efa}, {EngineKind::Ucx}), Contains("the module"));
}
