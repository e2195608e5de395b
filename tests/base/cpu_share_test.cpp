#include <distribute/base/threads.hpp>

#include "../support/catch.hpp"

#include <future>

using namespace distribute;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST_CASE("work pauses until it has had no more than its share of the cores", "[base][cpu_share]") {
  CpuShare share(0.5);
  const auto began = Clock::now();
  share.pause();
  share.count(10ms);
  share.pause();
  CHECK(Clock::now() - began >= 19ms);
  share.count(5ms);
  share.pause();
  CHECK(Clock::now() - began >= 29ms);
  CHECK(share.counted().count() == Approx(0.015));
}

TEST_CASE("a lifted share wakes sleeping threads and stops none", "[base][cpu_share]") {
  CpuShare share(1e-9);
  share.count(1s);
  std::promise<void> going;
  std::thread sleeper([&] {
    going.set_value();
    share.pause();  // 31 years
  });
  going.get_future().wait();
  share.lift();
  sleeper.join();
  share.pause();
}

TEST_CASE("threads count under the share of their scope", "[base][cpu_share]") {
  CpuShareScope::pause();  // none: nothing happens
  CHECK(CpuShareScope::current() == nullptr);
  const auto share = std::make_shared<CpuShare>(1e6);
  const auto work = [] {
    const auto until = Clock::now() + 5ms;
    while (Clock::now() < until) {
    }
  };
  work();
  CHECK(share->counted().count() == 0);
  double mine = 0;
  {
    const CpuShareScope scope(share);
    CHECK(CpuShareScope::current() == share);
    work();
    CpuShareScope::pause();
    mine = share->counted().count();
    CHECK(mine > 0);
    std::thread helper([&work, inherited = CpuShareScope::current()] {
      const CpuShareScope theirs(inherited);
      work();
    });
    helper.join();
    CHECK(share->counted().count() > mine);
    const CpuShareScope exempt(nullptr);
    CHECK(CpuShareScope::current() == nullptr);
  }
  CHECK(CpuShareScope::current() == nullptr);
}
