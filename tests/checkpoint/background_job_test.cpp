#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/checkpoint/background_job.hpp>

#include <tests/support/catch.hpp>

#include <string>
#include <thread>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace distribute;
using checkpoint_internal::BackgroundJob;

TEST_CASE("a job runs on a thread of its own, with low priority and one core",
          "[checkpoint][job]") {
  BackgroundJob job;
  std::thread::id thread;
  int priority = 0, cores = 0;
  job.start([&] {
    thread = std::this_thread::get_id();
    priority = getpriority(PRIO_PROCESS, id_t(syscall(SYS_gettid)));
    cores = intra_op_threads();
  });
  CHECK(job.pending());
  job.wait();
  CHECK_FALSE(job.pending());
  CHECK(thread != std::this_thread::get_id());
  CHECK(priority == 19);
  CHECK(cores == 1);
  CHECK(getpriority(PRIO_PROCESS, id_t(syscall(SYS_gettid))) < 19);
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
