#include <distribute/base/error.hpp>
#include <distribute/strategy/parameter_server_job.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <string>

using namespace distribute;
using namespace distribute::train;

namespace {

const ClusterSpec kCluster{{"ps", {"ps0:2222", "ps1:2222"}},
                           {"worker", {"w0:2222", "w1:2222", "w2:2222"}}};

std::string place(const DeviceFunction& setter, const PlacedOp& op, const std::string& scope = "") {
  return setter(op, DeviceSpec::from_string(scope)).to_string();
}

const PlacedOp kAdd{.op = "AddV2"};

}  // namespace

TEST_CASE("variables go round the parameter servers (case 110)",
          "[strategy][replica_device_setter]") {
  const auto setter = replica_device_setter({.cluster = kCluster});
  CHECK(place(setter, {}) == "/job:ps/task:0");
  CHECK(place(setter, {}) == "/job:ps/task:1");
  CHECK(place(setter, kAdd) == "/job:worker");
  CHECK(place(setter, {}) == "/job:ps/task:0");
  const auto copy = setter;  // counts on
  CHECK(place(copy, {}) == "/job:ps/task:1");
  CHECK(place(setter, {}) == "/job:ps/task:0");
}

TEST_CASE("other jobs take the place of ps and worker (case 110)",
          "[strategy][replica_device_setter]") {
  const ClusterSpec cluster{{"sun", {"s0:1", "s1:1", "s2:1"}}, {"moon", {"m0:1", "m1:1"}}};
  const auto setter = replica_device_setter(
      {.ps_device = "/job:moon", .worker_device = "/job:sun", .cluster = cluster});
  CHECK(place(setter, {}) == "/job:moon/task:0");
  CHECK(place(setter, {}) == "/job:moon/task:1");
  CHECK(place(setter, kAdd) == "/job:sun");
}

TEST_CASE("a scope pins a variable to a job, and does not count unless it is ps (case 110)",
          "[strategy][replica_device_setter]") {
  const auto setter = replica_device_setter({.cluster = kCluster});
  CHECK(place(setter, {}) == "/job:ps/task:0");
  CHECK(place(setter, {}, "/job:moon") == "/job:moon");
  CHECK(place(setter, {}, "/job:ps") == "/job:ps/task:1");
  CHECK(place(setter, {}, "/job:ps/task:1") == "/job:ps/task:1");  // counted, and overridden
  CHECK(place(setter, {}) == "/job:ps/task:1");
  CHECK(place(setter, kAdd, "/job:worker/task:2") == "/job:worker/task:2");
}

TEST_CASE("without merging a scope's device stands alone (case 110)",
          "[strategy][replica_device_setter]") {
  const auto setter = replica_device_setter({.merge_devices = false, .cluster = kCluster});
  CHECK(place(setter, {}) == "/job:ps/task:0");
  CHECK(place(setter, {}, "/job:worker") == "/job:worker");
  CHECK(place(setter, kAdd) == "/job:worker");
  CHECK(place(setter, kAdd, "/cpu:0") == "/device:CPU:0");
}

TEST_CASE("a device of the servers is merged in (case 110)", "[strategy][replica_device_setter]") {
  const auto setter = replica_device_setter({.ps_device = "/job:ps/cpu:0", .cluster = kCluster});
  CHECK(place(setter, {}) == "/job:ps/task:0/device:CPU:0");
  CHECK(place(setter, {}) == "/job:ps/task:1/device:CPU:0");
  CHECK(place(setter, {}, "/job:moon") == "/job:moon/device:CPU:0");
  const auto local = replica_device_setter({.ps_tasks = 1, .ps_device = "/cpu:0"});
  CHECK(place(local, {}) == "/device:CPU:0");
  CHECK(place(local, {}, "/gpu:0") == "/device:GPU:0");
  CHECK(place(local, {}, "/job:moon") == "/job:moon/device:CPU:0");
  CHECK(place(local, kAdd) == "/job:worker");
}

TEST_CASE("greedy placement balances bytes", "[strategy][replica_device_setter]") {
  const auto setter =
      replica_device_setter({.cluster = kCluster, .ps_strategy = GreedyLoadBalancingStrategy(2)});
  const auto size = [](int64_t elements) { return PlacedOp{.shape = {elements}}; };
  CHECK(place(setter, size(10)) == "/job:ps/task:0");
  CHECK(place(setter, size(4)) == "/job:ps/task:1");
  CHECK(place(setter, size(4)) == "/job:ps/task:1");
  CHECK(place(setter, size(4)) == "/job:ps/task:1");
  CHECK(place(setter, size(1)) == "/job:ps/task:0");
  CHECK(byte_size_load_fn({.shape = {3, 5}, .dtype = DType::Int64}) == 120.0);
}

TEST_CASE("without parameter servers there is no setter", "[strategy][replica_device_setter]") {
  CHECK_FALSE(replica_device_setter());
  CHECK_FALSE(replica_device_setter({.cluster = ClusterSpec{{"worker", {"w0:1"}}}}));
  check_throws<InvalidArgumentError>([] { replica_device_setter({.ps_tasks = -1}); }, "ps_tasks");
  check_throws<InvalidArgumentError>([] { RoundRobinStrategy(0); }, "tasks");
}
