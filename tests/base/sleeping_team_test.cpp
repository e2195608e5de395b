#include <distribute/base/detail/sleeping_team.hpp>
#include <distribute/base/parallel.hpp>

#include "../support/catch.hpp"

using distribute::base_internal::SleepingTeam;

TEST_CASE("loops work with a sleeping team and without it again", "[base][sleeping_team]") {
  std::atomic<int64_t> sum{0};
  const auto loop = [&] {
    distribute::parallel_for(1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  };
  loop();
  for (int i = 0; i < 3; ++i) {
    SleepingTeam team(distribute::intra_op_threads());
    loop();
  }
  loop();
  CHECK(sum == 5000);
}

TEST_CASE("the environment's way of waiting is left alone", "[base][sleeping_team]") {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  const std::string before = policy ? policy : "";
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  CHECK(!SleepingTeam::is_useful(2));
  ::unsetenv("OMP_WAIT_POLICY");
  if (!std::getenv("GOMP_SPINCOUNT")) {
    CHECK(SleepingTeam::is_useful(omp_get_num_procs()));
    CHECK(!SleepingTeam::is_useful(omp_get_num_procs() - 100));  // it would take 100 threads
  }
  if (policy) ::setenv("OMP_WAIT_POLICY", before.c_str(), 1);
}
