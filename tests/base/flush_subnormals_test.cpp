#include <distribute/base/detail/flush_subnormals.hpp>

#include <distribute/base/parallel.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

/// Half of a subnormal number, computed now and here.
float half_of_tiny() {
  volatile float tiny = 1e-40f;
  volatile float half = 0.5f;
  return tiny * half;
}

}  // namespace

TEST_CASE("subnormal numbers are zero as long as the guard lives", "[base][flush_subnormals]") {
  if (base_internal::kFlushBits == 0) SKIP("this machine has no such mode");
  REQUIRE(half_of_tiny() > 0);
  {
    const FlushSubnormals outer;
    CHECK(half_of_tiny() == 0);
    {
      const FlushSubnormals inner;
      CHECK(half_of_tiny() == 0);
    }
    CHECK(half_of_tiny() == 0);
    volatile float smallest_normal = 1.17549435e-38f;
    CHECK(smallest_normal * 1.0f > 0);
  }
  CHECK(half_of_tiny() > 0);
}

TEST_CASE("the pool's threads flush as well", "[base][flush_subnormals]") {
  if (base_internal::kFlushBits == 0) SKIP("this machine has no such mode");
  const int before = intra_op_threads();
  set_intra_op_threads(3);
  std::vector<float> results(3, 1.0f);
  {
    const FlushSubnormals guard;
    parallel_for(3, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) results[size_t(i)] = half_of_tiny();
    });
  }
  set_intra_op_threads(before);
  CHECK(results == std::vector<float>(3, 0.0f));
}
