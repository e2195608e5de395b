#include <distribute/base/logging.hpp>
#include <distribute/device/placement.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include "../support/catch.hpp"
#include "../support/cpu_backends.hpp"
#include "../support/gradient_check.hpp"
#include "../support/logical_devices.hpp"

using namespace distribute;

namespace {

using Operation = std::function<Tensor(const Tensor& image, const Tensor& filters)>;

/// Each on an image [2, 8, 8, 4] and filters [3, 3, 4, 16].
const std::vector<std::pair<std::string, Operation>> kOperations{
    {"add", [](auto& x, auto&) { return x + x; }},
    {"cast", [](auto& x, auto&) { return cast(x, DType::BFloat16); }},
    {"concat",
     [](auto& x, auto&) {
       return concat({x, x}, 0);
     }},
    {"conv2d", [](auto& x, auto& w) { return nn::conv2d(x, w, {}); }},
    {"conv2d of bfloat16",
     [](auto& x, auto& w) { return nn::conv2d(cast(x, DType::BFloat16), w, {}); }},
    {"dense",
     [](auto& x, auto& w) {
       return nn::dense(x, w.view({4, 144}));
     }},
    {"gather", [](auto& x, auto&) { return gather(x, Tensor(Shape{1}, std::vector<int64_t>{1})); }},
    {"matmul",
     [](auto& x, auto& w) {
       return matmul(reshape(x, {128, 4}), w.view({4, 144}));
     }},
    {"max_pool2d", [](auto& x, auto&) { return nn::max_pool2d(x, {}); }},
    {"reduce_sum", [](auto& x, auto&) { return reduce_sum(x); }},
    {"relu", [](auto& x, auto&) { return nn::relu(x); }},
    {"softmax", [](auto& x, auto&) { return nn::softmax(x); }},
    {"transpose", [](auto& x, auto&) { return transpose(x); }},
};

}  // namespace

TEST_CASE("operations and their gradients stay on the logical device of their first operand",
          "[ops][placement]") {
  const LogicalDevices devices(3);
  const Device own{DeviceType::Cpu, 1}, other{DeviceType::Cpu, 2};
  const Tensor image = test_tensor({2, 8, 8, 4}, 1).to(own);
  const Tensor filters = test_tensor({3, 3, 4, 16}, 2).to(other);
  for (Backend* engine : cpu_backends()) {
    const ScopedCpuBackend scope(*engine);
    for (const auto& [name, operation] : kOperations) {
      INFO(engine->name() << ": " << name);
      WatchingTape tape({image});
      const Tensor result = operation(image, filters);
      CHECK(result.device() == own);
      CHECK(tape.gradient(reduce_sum(cast(result, DType::Float32)), image).device() == own);
    }
  }
}

TEST_CASE("the placement log says where each operation runs, while it is switched on",
          "[ops][placement]") {
  const LogicalDevices devices(2);
  const LogOptions before = log_options();
  std::string lines;
  set_log_options({.sink = [&](const std::string& line) { lines += line; }});
  debugging::set_log_device_placement(true);
  const Tensor x = test_tensor({2, 2}, 1).to({DeviceType::Cpu, 1});
  matmul(x, x);
  debugging::set_log_device_placement(false);
  matmul(x, x);
  set_log_options(before);
  CHECK(lines ==
        "distribute: Executing op _EagerConst in device "
        "/job:localhost/replica:0/task:0/device:CPU:0\n"
        "distribute: Executing op matmul in device /job:localhost/replica:0/task:0/device:CPU:1\n");
}

TEST_CASE("logical devices read each other's memory: nothing is copied", "[ops][placement]") {
  const LogicalDevices devices(3);
  const Tensor image = test_tensor({2, 8, 8, 4}, 1), filters = test_tensor({3, 3, 4, 16}, 2);
  const Tensor elsewhere = filters.to({DeviceType::Cpu, 2});
  WatchingTape tape({elsewhere});
  const Tensor y = nn::conv2d(image.to({DeviceType::Cpu, 1}), elsewhere, {});
  CHECK(y.to_vector() == nn::conv2d(image, filters, {}).to_vector());
  // Of a copy the gradient would have come back to where the filters are.
  CHECK(tape.gradient(reduce_sum(y), elsewhere).device() == Device{DeviceType::Cpu, 1});
}
