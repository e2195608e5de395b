#include <distribute/base/detail/run_queue.hpp>

#include "../support/catch.hpp"
#include "../support/temporary_directory.hpp"

#include <unistd.h>

using namespace distribute::base_internal;

TEST_CASE("times of all threads are summed", "[base][run_queue]") {
  const TemporaryDirectory root;
  // Real ids, as the policy of each thread is asked for: of this process, and of its parent.
  for (const auto& [id, text] : {std::pair{::getpid(), "1500000000 250000000 7\n"},
                                 std::pair{::getppid(), "500000000 1000000000 9\n"}}) {
    const std::string folder = root / ("proc/self/task/" + std::to_string(id));
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/schedstat") << text;
  }
  const RunQueueTimes times = run_queue_times(root.path());
  CHECK(times.ran == Approx(2.0));
  CHECK(times.waited == Approx(1.25));
}

TEST_CASE("without the system's numbers all times are zero", "[base][run_queue]") {
  const TemporaryDirectory root;
  CHECK(run_queue_times(root.path()).ran == 0);
}

TEST_CASE("this process has run", "[base][run_queue]") {
  if (!std::filesystem::exists("/proc/self/schedstat")) SKIP("this kernel has no schedstat");
  CHECK(run_queue_times().ran > 0);
}
