/// Training with libtorch whose ranks are lost and come.

#include <distribute/torch/elastic.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/three_workers.hpp>
#include <tests/torch/torch_support.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>

using Catch::Matchers::Contains;
using distribute::str_cat;
using distribute::testing::ProcessCluster;

namespace {

constexpr int64_t kSteps = 40;

/// Trains to the last step with examples that are the same on all ranks, so that the number of
/// ranks does not change the result; `before` is called before each step.
dist::elastic::ElasticEnd train_elastically(Sparse& net,
                                            const std::function<void(int64_t)>& before) {
  fill_parameters(*net, 0);
  torch::optim::SGD optimizer(net->parameters(), 0.02);
  int64_t step = 0;
  dist::elastic::TorchState state(*net, optimizer);
  state.add(step);
  return dist::elastic::run(state, [&] {
    dist::DistributedDataParallel ddp(net);
    std::printf("%d ranks at step %d\n", dist::get_world_size(), int(step));
    std::fflush(stdout);
    while (step < kSteps) {
      before(step);
      train_step(ddp, optimizer, 0, step);
      if (++step % 5 == 0) state.commit();
    }
  });
}

distribute::testing::ProcessClusterOptions elastic_ranks(const std::string& function) {
  auto options = three_workers(function, "");
  options.environment["DISTRIBUTE_MIN_WORKERS"] = "2";
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.1";
  return options;
}

std::string weights_text(Sparse& net) {
  const auto weights = all_weights(*net);
  return str_cat(weights.sum().item<double>(), " ", weights.square().sum().item<double>());
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(loses_a_torch_rank) {
  dist::init_process_group();
  const bool victim = dist::get_rank() == 1 && task.restarts() == 0;
  Sparse net;
  train_elastically(net, [&](int64_t step) {
    if (victim && step == 13) std::raise(SIGKILL);
  });
  task.set_result(weights_text(net));
}

/// The argument of the script's number of steps is what one rank trains alone.
DISTRIBUTE_CLUSTER_MAIN(trains_alone_with_torch) {
  dist::init_process_group();
  Sparse net;
  train_elastically(net, [](int64_t) {});
  task.set_result(weights_text(net));
}

TEST_CASE("the others go on from the last commit when a rank is killed", "[torch][multiproc]") {
  distribute::testing::ProcessClusterOptions one{
      .workers = 1, .function = "trains_alone_with_torch", .deadline_seconds = 300};
  one.environment["OMP_NUM_THREADS"] = "1";
  const auto alone = ProcessCluster(one).join();
  ProcessCluster cluster(elastic_ranks("loses_a_torch_rank"));
  cluster.expect_failure({"worker", 1});
  const auto outcomes = cluster.join();
  for (const size_t rank : {0, 2}) {
    INFO(outcomes[rank].out);
    double sum = 0, squares = 0, wanted_sum = 0, wanted_squares = 0;
    std::sscanf(outcomes[rank].result.value().c_str(), "%lf %lf", &sum, &squares);
    std::sscanf(alone[0].result.value().c_str(), "%lf %lf", &wanted_sum, &wanted_squares);
    CHECK(sum == Approx(wanted_sum).epsilon(1e-5));
    CHECK(squares == Approx(wanted_squares).epsilon(1e-5));
    CHECK_THAT(outcomes[rank].out, Contains("3 ranks at step 0\n2 ranks at step 10\n"));
  }
}
