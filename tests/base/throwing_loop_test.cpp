#include <distribute/base/detail/throwing_loop.hpp>

#include <tests/support/catch.hpp>

#include <new>

using namespace distribute;
using base_internal::throwing_parallel_for;

TEST_CASE("an exception in a part of a loop reaches the caller when all parts are over",
          "[base][throwing_loop]") {
  const int before = intra_op_threads();
  set_intra_op_threads(4);
  std::atomic<int> over{0};
  const auto part = [&](int64_t begin, int64_t) {
    ++over;
    if (begin > 0) throw std::bad_alloc();  // in the threads that are not the caller's
  };
  CHECK_THROWS_AS(throwing_parallel_for(4, 1, part), std::bad_alloc);
  CHECK(over == 4);
  int64_t sum = 0;
  throwing_parallel_for(1, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  CHECK(sum == 1);
  set_intra_op_threads(before);
}
