#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/checkpoint/detail/background_job.hpp>

#include <tests/support/catch.hpp>

#include <future>
#include <string>
#include <thread>

#include <sched.h>

using namespace distribute;
using checkpoint_internal::BackgroundJob;

/// Whether this process may take a thread out of SCHED_IDLE again.
bool may_leave_idle() {
  bool may = false;
  std::thread([&] {
    const sched_param none{};
    may = sched_setscheduler(0, SCHED_IDLE, &none) == 0 &&
          sched_setscheduler(0, SCHED_OTHER, &none) == 0;
  }).join();
  return may;
}

TEST_CASE("a job runs on an idle thread with one core, until it is waited for",
          "[checkpoint][job]") {
  BackgroundJob job;
  std::thread::id thread;
  std::promise<void> started, seen;
  const bool hurries = may_leave_idle();
  int policy = -1, policy_at_last = -1, cores = 0;
  job.start([&] {
    thread = std::this_thread::get_id();
    started.get_future().wait();
    policy = sched_getscheduler(0);
    cores = intra_op_threads();
    seen.set_value();
    while ((policy_at_last = sched_getscheduler(0)) != SCHED_OTHER && hurries)
      std::this_thread::yield();
  });
  CHECK(job.pending());
  started.set_value();
  seen.get_future().wait();
  job.wait();
  CHECK_FALSE(job.pending());
  CHECK(thread != std::this_thread::get_id());
  CHECK(policy == SCHED_IDLE);
  CHECK(policy_at_last == (hurries ? SCHED_OTHER : SCHED_IDLE));
  CHECK(cores == 1);
  CHECK(sched_getscheduler(0) == SCHED_OTHER);
}

TEST_CASE("a job works under a share of the cores, which who waits lifts", "[checkpoint][job]") {
  BackgroundJob job;
  std::promise<std::shared_ptr<CpuShare>> share;
  job.start([&] {
    CpuShareScope::current()->count(std::chrono::hours(1));
    share.set_value(CpuShareScope::current());
    CpuShareScope::pause();
  });
  REQUIRE(share.get_future().get() != nullptr);
  job.wait();
}

TEST_CASE("the error of a job comes once, from wait", "[checkpoint][job]") {
  BackgroundJob job;
  CHECK_NOTHROW(job.wait());
  job.start([] { throw UnavailableError("gone"); });
  CHECK_THROWS_AS(job.wait(), UnavailableError);
  CHECK_NOTHROW(job.wait());
  bool ran = false;
  job.start([&] { ran = true; });
  CHECK_THROWS_AS(job.start([] {}), FailedPreconditionError);
  job.wait();
  CHECK(ran);
}

TEST_CASE("who drops a job waits for it", "[checkpoint][job]") {
  bool ran = false;
  {
    BackgroundJob job;
    job.start([&] {
      ran = true;
      throw UnavailableError("a warning on stderr");
    });
  }
  CHECK(ran);
}
