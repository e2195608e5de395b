#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/tensor/tensor.hpp>

#include "support/catch.hpp"

#include <thread>

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
    const auto outer = device("/job:worker/task:1/cpu:2");
    CHECK(zeros({2}).device().index == 2);
    CHECK(Tensor(1.0f).device().index == 2);
    CHECK(Variable(ones({2})).value().device().index == 2);
    {
      const auto inner = device("/device:CPU:3");
      CHECK(current_device().index == 3);
      CHECK(current_device_spec().to_string() == "/job:worker/task:1/device:CPU:3");
      CHECK(zeros_like(Tensor(1.0f).to({})).device().index == 0);
      const auto none = device(std::nullopt);
      CHECK(current_device_spec().to_string().empty());
      CHECK(fill({1}, 2).device() == Device{});
    }
    CHECK(current_device().index == 2);
  }
  CHECK(current_device() == Device{});
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
