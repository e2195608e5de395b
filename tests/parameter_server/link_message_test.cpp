#include <distribute/device/dtype.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>

#include <tests/support/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace distribute;
using parameter_server::narrow;
using parameter_server::widen;

TEST_CASE("numbers are halved as bfloat16 rounds", "[parameter_server][link_message]") {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               1.0f / 3,
                               -1e30f,
                               1e-40f,
                               std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::max()};
  uint32_t bits = 1;
  for (int i = 0; i < 10'000; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const float value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) values.push_back(value);
  }
  std::vector<uint16_t> half(values.size());
  std::vector<float> back(values.size());
  narrow(values.data(), half.data(), int64_t(values.size()));
  widen(half.data(), back.data(), int64_t(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    REQUIRE(half[i] == bfloat16(values[i]).bits);
    REQUIRE(std::bit_cast<uint32_t>(back[i]) == uint32_t{half[i]} << 16);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  narrow(&nan, half.data(), 1);
  widen(half.data(), back.data(), 1);
  CHECK(std::isnan(back[0]));
}
