#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/tensor/tensor.hpp>

#include "support/catch.hpp"
#include "support/caught_log.hpp"

using namespace distribute;

namespace {

/// Four logical CPUs and the given placement rule for one test.
struct FourCpus {
  explicit FourCpus(bool soft) {
    config::set_logical_device_configuration(4);
    config::set_soft_device_placement(soft);
  }
  ~FourCpus() {
    config::set_logical_device_configuration(1);
    config::set_soft_device_placement(true);
  }
};

}  // namespace

TEST_CASE("new tensors and variables go to the device of the scope", "[device][placement]") {
  const FourCpus cpus(false);
  CHECK(current_device() == Device{});
  {
    const auto outer = device("/job:localhost/task:0/cpu:2");
    CHECK(zeros({2}).device().index == 2);
    CHECK(Tensor(1.0f).device().index == 2);
    CHECK(Variable(ones({2})).value().device().index == 2);
    {
      const auto inner = device("/device:CPU:3");
      CHECK(current_device().index == 3);
      CHECK(current_device_spec().to_string() == "/job:localhost/task:0/device:CPU:3");
      CHECK(zeros_like(Tensor(1.0f).to({})).device().index == 0);
      const auto none = device(std::nullopt);
      CHECK(current_device_spec().to_string().empty());
      CHECK(fill({1}, 2).device() == Device{});
    }
    CHECK(current_device().index == 2);
  }
  CHECK(current_device() == Device{});
}

// TensorFlow 2.21 ends an operation there with "/job:worker/replica:0/task:2/device:CPU:0 unknown
// device.", whatever the placement rule.
TEST_CASE("a scope does not take operations to another process in silence", "[device][placement]") {
  {
    const FourCpus strict(false);
    CHECK_THROWS_WITH(device("/job:worker/task:2"),
                      Contains("'/job:worker/task:2' names a task of another process"));
    CHECK_THROWS_AS(device("/job:localhost/task:1"), InvalidArgumentError);
    CHECK(current_device_spec() == DeviceSpec{});  // nothing is left of them
    CHECK_NOTHROW(device("/job:localhost/replica:0/task:0/cpu:1"));
    CHECK_NOTHROW(device("/job:ps/task:1"));  // device functions read it
    device_internal::add_own_task("trainer", 3);
    CHECK_NOTHROW(device("/job:trainer/task:3/cpu:0"));
    CHECK_NOTHROW(device("/job:trainer"));
    CHECK_THROWS_AS(device("/job:trainer/task:2"), InvalidArgumentError);
  }
  const FourCpus soft(true);
  CaughtLog log;
  for (int i = 0; i < 2; ++i) {
    const auto scope = device("/job:worker/task:2/cpu:1");
    CHECK(zeros({2}).device().index == 1);
  }
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0], Contains("but operations run in this one"));
}

// TensorFlow 2.21 writes _EagerConst, VarHandleOp and AssignVariableOp for the second line.
TEST_CASE("the placement log shows constants and variables", "[device][placement]") {
  const FourCpus cpus(true);
  CaughtLog log;
  const auto scope = device("/cpu:1");
  debugging::set_log_device_placement(true);
  const Tensor constant{1.0f, 2.0f};
  const Variable variable(constant);
  debugging::set_log_device_placement(false);
  REQUIRE(log.lines.size() == 2);
  CHECK_THAT(log.lines[0], Contains("Executing op _EagerConst in device "
                                    "/job:localhost/replica:0/task:0/device:CPU:1"));
  CHECK_THAT(log.lines[1], Contains("Executing op VarHandleOp in device "
                                    "/job:localhost/replica:0/task:0/device:CPU:1"));
}

TEST_CASE("scopes belong to their thread", "[device][placement]") {
  const FourCpus cpus(false);
  const auto scope = device("/cpu:1");
  Device other{DeviceType::Cpu, -1};
  std::thread([&] { other = current_device(); }).join();
  CHECK(other == Device{});
  const DeviceScope replica(Device{DeviceType::Cpu, 7});  // no logical device asked for
  CHECK(current_device().index == 7);
}

TEST_CASE("without soft placement a missing device is an error that lists the others",
          "[device][placement]") {
  const FourCpus cpus(false);
  CHECK_THROWS_WITH(device("/gpu:0"),
                    "Could not satisfy device specification '/device:GPU:0'. "
                    "enable_soft_placement=0. All available devices [/device:CPU:0, "
                    "/device:CPU:1, /device:CPU:2, /device:CPU:3].");
  CHECK_THROWS_AS(device("/cpu:4"), InvalidArgumentError);
  CHECK_THROWS_AS(device("somewhere"), InvalidArgumentError);
  CHECK(current_device() == Device{});
}

TEST_CASE("soft placement takes the CPU instead", "[device][placement]") {
  const FourCpus cpus(true);
  const auto scope = device("/gpu:0");
  CHECK(current_device() == Device{});
  CHECK(current_device_spec().to_string() == "/device:GPU:0");
}

TEST_CASE("logical devices are listed by type", "[device][placement]") {
  const FourCpus cpus(true);
  CHECK(config::list_logical_devices().size() == 4);
  CHECK(config::list_logical_devices("CPU")[3].name == "/device:CPU:3");
  CHECK(config::list_logical_devices("GPU").empty());
  CHECK_THROWS_AS(config::set_logical_device_configuration(0), InvalidArgumentError);
}

TEST_CASE("thread settings are kept and checked", "[device][placement]") {
  const int before = intra_op_threads();
  config::threading::set_intra_op_parallelism_threads(3);
  CHECK(config::threading::get_intra_op_parallelism_threads() == 3);
  CHECK(intra_op_threads() == 3);
  config::threading::set_inter_op_parallelism_threads(2);
  CHECK(config::threading::get_inter_op_parallelism_threads() == 2);
  CHECK_THROWS_AS(config::threading::set_intra_op_parallelism_threads(-1), InvalidArgumentError);
  config::threading::set_intra_op_parallelism_threads(0);
  config::threading::set_inter_op_parallelism_threads(0);
  set_intra_op_threads(before);
}

TEST_CASE("the placement log has full names and is off", "[device][placement]") {
  CHECK_FALSE(debugging::get_log_device_placement());
  CHECK(device_internal::full_name({DeviceType::Cpu, 1}) ==
        "/job:localhost/replica:0/task:0/device:CPU:1");
}
