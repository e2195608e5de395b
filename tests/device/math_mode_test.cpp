#include <distribute/device/placement.hpp>

#include <distribute/base/error.hpp>
#include <distribute/device/detail/cpu_winograd.hpp>

#include "../support/catch.hpp"

using namespace distribute;

namespace {

/// 5x5 filters on 14 x 14 pixels, which Winograd's algorithm suits.
Conv2DShape large_filters() {
  Conv2DShape s;
  s.batch = 8;
  s.in = s.out = {14, 14};
  s.in_channels = 32;
  s.out_channels = 64;
  s.kernel = {5, 5};
  s.pad_before = s.pad_after = {2, 2};
  return s;
}

}  // namespace

TEST_CASE("the float32 precision decides on Winograd's algorithm and TensorFloat-32",
          "[device][math_mode]") {
  CHECK(config::get_float32_matmul_precision() == "high");
  const bool suits = winograd_suits(large_filters());  // not on machines without AVX2
  config::set_float32_matmul_precision("highest");
  CHECK(config::get_float32_matmul_precision() == "highest");
  CHECK_FALSE(winograd_suits(large_filters()));
  CHECK_FALSE(config::experimental::tensor_float_32_execution_enabled());
  config::set_float32_matmul_precision("high");
  CHECK(config::get_float32_matmul_precision() == "high");
  CHECK(winograd_suits(large_filters()) == suits);
  CHECK(config::experimental::tensor_float_32_execution_enabled());
}

TEST_CASE("an unknown precision is refused and changes nothing", "[device][math_mode]") {
  CHECK_THROWS_AS(config::set_float32_matmul_precision("exact"), InvalidArgumentError);
  CHECK_THROWS_AS(config::set_float32_matmul_precision("medium"), UnimplementedError);
  CHECK(config::get_float32_matmul_precision() == "high");
}
