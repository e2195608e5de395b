#include <distribute/ops/slicing.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"
#include "support/logical_devices.hpp"

#include <functional>
#include <utility>

using namespace distribute;

namespace {
Tensor counted(const Shape& shape) {
  std::vector<float> values(size_t(shape.num_elements()));
  std::iota(values.begin(), values.end(), 0.0f);
  return {shape, values};
}
}  // namespace

TEST_CASE("slice takes a block", "[ops][slice]") {
  const Tensor x = counted({3, 4});
  CHECK(slice(x, {1, 1}, {2, 2}).to_vector() == std::vector<float>{5, 6, 9, 10});
  CHECK(slice(x, {1, 2}, {-1, -1}).to_vector() == std::vector<float>{6, 7, 10, 11});
  CHECK(slice(x, {3, 0}, {0, 4}).shape() == Shape{0, 4});
}

TEST_CASE("slices of the first axis share memory", "[ops][slice]") {
  const Tensor x = counted({3, 4});
  CHECK(slice(x, {1, 0}, {1, 4}).data<float>().data() == x.data<float>().data() + 4);
}

TEST_CASE("slice names the axis it would leave", "[ops][slice]") {
  const Tensor x = counted({3, 4});
  CHECK_THROWS_WITH(slice(x, {0, 2}, {3, 3}),
                    "slice: axis 1 of shape [3, 4] has no 3 elements from 2");
  CHECK_THROWS_AS(slice(x, {0}, {3}), InvalidArgumentError);
  CHECK_THROWS_AS(slice(x, {-1, 0}, {1, 1}), InvalidArgumentError);
}

// The numbers and the errors are those of TensorFlow 2.21.
TEST_CASE("an index takes a part of the first axis", "[ops][slice]") {
  const Tensor x({2, 2}, std::vector<float>{1, 2, 3, 4});
  CHECK(x[0].to_vector() == std::vector<float>{1, 2});
  CHECK(x[-1].to_vector() == std::vector<float>{3, 4});
  CHECK(x[0].shape() == Shape{2});
  CHECK(x[1][0].item<float>() == 3);
  CHECK(x[1].data<float>().data() == x.data<float>().data() + 2);
  CHECK_THROWS_WITH(x[2], Contains("index 2 is out of range for the first axis of [2, 2]"));
  CHECK_THROWS_AS(x[-3], InvalidArgumentError);
  CHECK_THROWS_AS(Tensor(1.0f)[0], InvalidArgumentError);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x[1] * x[1];
  CHECK(tape.gradient(y, x).to_vector() == std::vector<float>{0, 0, 6, 8});
}

TEST_CASE("an index of a variable is followed by tapes", "[ops][slice]") {
  const Variable v(Tensor({2, 2}, std::vector<float>{1, 2, 3, 4}));
  GradientTape tape;
  const Tensor y = v[-1] * 3.0f;
  CHECK(tape.gradient(y, v).to_vector() == std::vector<float>{0, 0, 3, 3});
}

TEST_CASE("strided_slice follows NumPy", "[ops][slice]") {
  const Tensor x = counted({10});
  const auto take = [&](Range range) { return strided_slice(x, {range}).to_vector(); };
  CHECK(take({.begin = 1, .end = 8, .step = 3}) == std::vector<float>{1, 4, 7});
  CHECK(take({.begin = -3}) == std::vector<float>{7, 8, 9});
  CHECK(take({.end = -7}) == std::vector<float>{0, 1, 2});
  CHECK(take({.step = -4}) == std::vector<float>{9, 5, 1});
  CHECK(take({.begin = 3, .step = -2}) == std::vector<float>{3, 1});
  CHECK(take({.begin = 20, .end = 6, .step = -1}) == std::vector<float>{9, 8, 7});
  CHECK(take({.begin = -100, .end = 2}) == std::vector<float>{0, 1});
  CHECK(take({.begin = 5, .end = 2}).empty());
  const Tensor y = strided_slice(counted({2, 3}), {{.step = -1}, {.begin = 2, .step = -2}});
  CHECK(y.to_vector() == std::vector<float>{5, 3, 2, 0});
  CHECK(strided_slice(counted({2, 3}), {{.begin = 1}}).to_vector() == std::vector<float>{3, 4, 5});
}

TEST_CASE("strided_slice refuses a step of zero and too many ranges", "[ops][slice]") {
  const Tensor x = counted({4});
  CHECK_THROWS_AS(strided_slice(x, {{.step = 0}}), InvalidArgumentError);
  CHECK_THROWS_AS(strided_slice(x, {{}, {}}), InvalidArgumentError);
}

TEST_CASE("gradients go back to where a slice came from", "[ops][slice]") {
  check_gradient([](auto& in) { return slice(in[0], {1, 0}, {2, 2}); }, {test_tensor({3, 4})});
  check_gradient([](auto& in) { return slice(in[0], {1, 0}, {2, 4}); }, {test_tensor({3, 4})});
  check_gradient(
      [](auto& in) {
        return strided_slice(in[0], {{.step = -2}, {.begin = 3, .end = 0, .step = -1}});
      },
      {test_tensor({5, 4})});
}

// Numbers of TensorFlow 2.21 for x[1:3], tf.reshape, tf.identity on another device and
// tf.convert_to_tensor(tf.IndexedSlices).
TEST_CASE("tapes follow views, rows, copies to devices and indexed slices", "[ops][slice]") {
  const LogicalDevices devices(2);
  const Tensor x = counted({3, 2});
  const auto gradient = [&](const std::function<Tensor(const Tensor&)>& part) {
    GradientTape tape;
    tape.watch(x);
    const Tensor gradient = tape.gradient(reduce_sum(square(part(x))), x);
    REQUIRE(gradient);
    return gradient.to_vector();
  };
  using Floats = std::vector<float>;
  CHECK(gradient([](const Tensor& a) { return a.rows(1, 3); }) == Floats{0, 0, 4, 6, 8, 10});
  CHECK(gradient([](const Tensor& a) { return a.view({6}).rows(1, 3); }) ==
        Floats{0, 2, 4, 0, 0, 0});
  CHECK(gradient([](const Tensor& a) {
          return a.to({DeviceType::Cpu, 1});
        }) == Floats{0, 2, 4, 6, 8, 10});
  const Tensor places(Shape{3}, std::vector<int64_t>{0, 2, 0});
  CHECK(gradient([&](const Tensor& a) {
          return to_tensor({a, places, Shape{3, 2}});
        }) == Floats{8, 12, 4, 6, 8, 12});
  check_gradient(
      [&](auto& in) {
        return in[0].rows(1, 3) * in[0].view({2, 3}).view({3, 2}).rows(0, 2) *
               to_tensor({in[0], places, Shape{2 + 1, 2}}).rows(1, 3);
      },
      {x * 0.25f + 0.5f}, {.second = true});
  // Tensors that are not followed leave nothing on the tape.
  GradientTape tape;
  const Tensor rows = x.rows(0, 1);
  CHECK_FALSE(tape.gradient(rows.view({2}), rows));
}

TEST_CASE("rows share memory and refuse what the tensor does not have", "[ops][slice]") {
  const Tensor x = counted({3, 2});
  CHECK(x.rows(1, 3).data<float>().data() == x.data<float>().data() + 2);
  CHECK(x.rows(1, 1).shape() == Shape{0, 2});
  for (const auto& [begin, end] : {std::pair(-1, 1), {2, 1}, {1, 4}})
    CHECK_THROWS_AS(x.rows(begin, end), InvalidArgumentError);
  CHECK_THROWS_AS(Tensor(1.0f).rows(0, 0), InvalidArgumentError);
}
