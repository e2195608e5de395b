#include <distribute/parameter_server/detail/staging_budget.hpp>

#include <tests/support/catch.hpp>

#include <atomic>
#include <thread>
#include <vector>

using distribute::parameter_server::StagingBudget;

TEST_CASE("staged bytes stay within the bound for all tasks",
          "[parameter_server][staging_budget]") {
  constexpr int kThreads = 4, kTurns = 200;
  constexpr int64_t kBytes = 40, kMost = 100;  // two at a time
  StagingBudget budget(kMost);
  std::atomic<int64_t> used = 0, highest = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kTurns; ++i) {
        const auto room = budget.take(kBytes);
        const int64_t now = used += kBytes;
        for (int64_t seen = highest; seen < now && !highest.compare_exchange_weak(seen, now);) {
        }
        used -= kBytes;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(highest <= kMost);
  CHECK(used == 0);
}

TEST_CASE("a push larger than the bound is taken alone", "[parameter_server][staging_budget]") {
  StagingBudget budget(100);
  auto large = budget.take(1000);
  std::atomic<bool> asks = false, returned = false;
  bool waited = false;
  std::thread other([&] {
    asks = true;
    asks.notify_one();
    const auto small = budget.take(10);
    waited = returned;
  });
  asks.wait(false);
  returned = true;
  large.reset();
  other.join();
  CHECK(waited);
}
