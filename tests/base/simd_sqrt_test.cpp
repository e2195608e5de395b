#include <distribute/base/detail/simd_sqrt.hpp>

#include "support/catch.hpp"

TEST_CASE("roots are those of std::sqrt for every length", "[base][simd_sqrt]") {
  const size_t count = GENERATE(0, 1, 7, 8, 15, 16, 17, 100);
  std::vector<float> x(count), root(count);
  for (size_t i = 0; i < count; ++i) x[i] = float(i) * 0.37f;
  distribute::simd_sqrt(x.data(), root.data(), int64_t(count));
  for (size_t i = 0; i < count; ++i) CHECK(root[i] == std::sqrt(x[i]));
  distribute::simd_sqrt(x.data(), x.data(), int64_t(count));
  CHECK(x == root);
}
