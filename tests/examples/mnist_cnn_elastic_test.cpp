/// mnist_cnn --elastic: a worker is killed and comes back, and training ends as if it had not.

#include "mnist_cluster.hpp"

#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <csignal>

using namespace mnist_cluster;
using Catch::Matchers::Contains;

TEST_CASE("an elastic job goes on without a worker that is killed", "[examples][elastic]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory directory;
  auto options = cluster_options(
      3, {"--model=tutorial", "--batch_size=12", "--steps=60", "--elastic", "--min_workers=2",
          "--checkpoint_dir=" + directory.path(), "--save_steps=50"});
  options.auto_restart = true;
  ProcessCluster cluster(options);
  cluster.wait_for_output({"worker", 0}, "generation 1  from step 0  3 workers");
  cluster.kill({"worker", 1}, SIGKILL);
  cluster.wait_for_output({"worker", 0}, "generation 2  from step ");
  const auto outcomes = cluster.join();
  CHECK(std::any_of(outcomes.begin(), outcomes.end(), [](const TaskOutcome& outcome) {
    return outcome.out.find("test accuracy") != std::string::npos;
  }));
  CHECK_THAT(outcomes[2].out, Contains("generation 2  from step "));
}

TEST_CASE("elastic flags that make no sense are usage errors", "[examples][elastic]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  for (const Words& flags : {Words{"--min_workers=2"}, Words{"--elastic", "--strategy=mirrored"},
                             Words{"--elastic", "--min_workers=3", "--max_workers=2"}}) {
    const ProgramResult result = run_program("mnist_cnn", flags);
    CHECK(result.status == 2);
    CHECK_THAT(result.err, Contains("error: --"));
  }
}
