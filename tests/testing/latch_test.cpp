#include <distribute/base/error.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

using namespace distribute;
using testing::Latch;

TEST_CASE("a latch opens when all have arrived", "[testing][latch]") {
  Latch latch(3);
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      ++arrived;
      latch.arrive_and_wait();
      if (arrived != 3) ++wrong;
    });
  latch.wait();
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(latch.is_open());
}

TEST_CASE("a latch that does not open says how many are missing", "[testing][latch]") {
  Latch latch(3);
  latch.count_down();
  CHECK_FALSE(latch.is_open());
  CHECK_THROWS_WITH(latch.wait(0.01), Catch::Matchers::Contains("2 are missing"));
  CHECK_THROWS_AS(latch.wait(0), DeadlineExceededError);
}

TEST_CASE("an open latch cannot be counted down", "[testing][latch]") {
  Latch latch(1);
  latch.count_down();
  CHECK_NOTHROW(latch.wait(0));
  CHECK_THROWS_AS(latch.count_down(), FailedPreconditionError);
}
