/// What ranks give each other over each transport, and what they say of one that is lost.

#include <distribute/base/error.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/launch/launcher.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/mpirun.hpp>
#include <tests/torch/torch_support.hpp>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

using Catch::Matchers::Contains;
using distribute::Error;
using distribute::str_cat;
using distribute::collective::EngineKind;
using distribute::testing::ProcessCluster;

namespace {

/// What collectives give wrong.
std::string wrong_collectives() {
  const int rank = dist::get_rank(), size = dist::get_world_size();
  std::string wrong;
  const auto check = [&](bool right, const std::string& what) {
    if (!right) wrong += what + "; ";
  };
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16,
                          torch::kInt, torch::kLong, torch::kShort, torch::kByte}) {
    auto sum = torch::full({5}, rank + 1, type);
    dist::all_reduce(sum);
    check(sum.equal(torch::full({5}, size * (size + 1) / 2, type)),
          str_cat("sum of ", c10::toString(type)));
    auto most = torch::full({5}, rank + 1, type);
    dist::all_reduce(most, c10d::ReduceOp::MAX);
    check(most.equal(torch::full({5}, size, type)), str_cat("max of ", c10::toString(type)));
  }
  auto mean = torch::full({2, 3}, float(rank));
  dist::all_reduce(mean, c10d::ReduceOp::AVG);
  check(mean.allclose(torch::full({2, 3}, (size - 1) / 2.0f)), "mean");
  auto from_last = torch::full({4}, double(rank), torch::kDouble);
  dist::broadcast(from_last, size - 1);
  check(from_last.equal(torch::full({4}, double(size - 1), torch::kDouble)), "broadcast");
  const auto all = dist::all_gather(torch::full({2}, rank));
  for (int r = 0; r < size; ++r) check(all[size_t(r)].equal(torch::full({2}, r)), "all_gather");
  const auto mine = dist::reduce_scatter(torch::arange(size * 2, torch::kFloat).view({size, 2}));
  check(mine.equal(torch::tensor({{2.0f * rank, 2.0f * rank + 1}}) * size), "reduce_scatter");
  const auto texts = dist::all_gather_bytes(std::string(size_t(rank), 'x'));
  for (int r = 0; r < size; ++r)
    check(texts[size_t(r)] == std::string(size_t(r), 'x'), "all_gather_bytes");
  check(dist::broadcast_bytes(rank == 1 ? "from 1" : "", 1) == "from 1", "broadcast_bytes");
  dist::barrier();
  return wrong;
}

/// Trains a little; returns the bits of the weights.
std::string bits_of_training() {
  const int rank = dist::get_rank();
  Book net;
  fill_parameters(*net, rank);
  dist::DistributedDataParallel ddp(net);
  torch::optim::SGD optimizer(net->parameters(), 0.02);
  for (int step = 0; step < 3; ++step) train_step(ddp, optimizer, rank, step);
  return std::to_string(bits_of(*net));
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(moves_tensors) {
  dist::init_process_group();
  task.set_result(wrong_collectives() + dist::get_transport() + " " + bits_of_training());
}

TEST_CASE("collectives of tensors over each transport, and the same bits of a training",
          "[torch][multiproc]") {
  const int ranks = GENERATE(2, 3);
  std::string no_ucx, bits;
  distribute::collective::find_engine(EngineKind::Ucx, no_ucx);
  for (const std::string transport : {"auto", "tcp", "ucx"}) {
    if (transport == "ucx" && !no_ucx.empty()) {
      WARN("ucx is left out: " << no_ucx);
      continue;
    }
    INFO(transport);
    auto options = ranks_of(ranks, "moves_tensors");
    options.environment["DISTRIBUTE_TRANSPORT"] = transport;
    ProcessCluster cluster(options);
    for (const auto& outcome : cluster.join()) {
      const std::string result = outcome.result.value();
      const size_t blank = result.find(' ');
      CHECK(result.substr(0, blank) == (transport == "auto" ? "shm" : transport));
      if (bits.empty()) bits = result.substr(blank);
      CHECK(result.substr(blank) == bits);
    }
  }
}

TEST_CASE("a rank under mpirun: moves tensors of torch", "[.mpi_torch]") {
  if (!is_mpi_rank()) return;
  dist::init_process_group();
  CHECK_THAT(dist::get_transport(), Contains("mpi"));
  CHECK(dist::get_world_size() == 3);
  CHECK(wrong_collectives() == "");
  const auto all = dist::all_gather_bytes(bits_of_training());
  CHECK(all == std::vector<std::string>(3, all[0]));
  dist::destroy_process_group();
}

TEST_CASE("collectives of tensors over MPI", "[torch][multiproc][mpi]") {
  const EngineKind mpi = GENERATE(EngineKind::OpenMpi, EngineKind::Mpich);
  if (const std::string problem = mpi_problem(mpi); !problem.empty()) SKIP("" + problem);
  const distribute::launch::ReservedPort port;
  const MpiRun run =
      run_with_mpi("[.mpi_torch]",
                   {.mpi = mpi,
                    .environment = str_cat(
                        "DISTRIBUTE_TRANSPORT=mpi OMP_NUM_THREADS=1 MASTER_PORT=", port.number())});
  INFO(run.output);
  CHECK(run.passed == 3);
}

DISTRIBUTE_CLUSTER_MAIN(is_killed) {
  dist::init_process_group();
  Book net;
  dist::DistributedDataParallel ddp(net);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  std::string said;
  try {
    for (int step = 0; step < 1000; ++step) {
      if (step == 3 && dist::get_rank() == 2) std::raise(SIGKILL);
      train_step(ddp, optimizer, dist::get_rank(), step);
    }
  } catch (const Error& error) {
    said = error.what();
  }
  task.set_result(said);
}

TEST_CASE("a killed rank is named by the others", "[torch][multiproc]") {
  ProcessCluster cluster(ranks_of(3, "is_killed"));
  cluster.expect_failure({"worker", 2});
  const auto outcomes = cluster.join();
  for (const size_t rank : {0, 1}) CHECK_THAT(outcomes[rank].result.value(), Contains("worker 2"));
}

DISTRIBUTE_CLUSTER_MAIN(trains_torch_for_ever) {
  dist::init_process_group();
  Book net;
  dist::DistributedDataParallel ddp(net);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  for (int step = 0;; ++step) {
    train_step(ddp, optimizer, dist::get_rank(), step);
    if (step == 3) std::printf("training\n"), std::fflush(stdout);
  }
}

TEST_CASE("a killed or frozen rank ends the job with the report of docs/errors.md",
          "[torch][multiproc]") {
  const std::string transport = GENERATE("auto", "tcp");
  const int victim = GENERATE(0, 2);
  const int signal = GENERATE(SIGKILL, SIGSTOP);
  CAPTURE(transport, victim, signal);
  auto options = ranks_of(3, "trains_torch_for_ever");
  options.environment["DISTRIBUTE_TRANSPORT"] = transport;
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.2";
  options.environment["DISTRIBUTE_LOST_AFTER"] = "5";
  ProcessCluster cluster(options);
  for (int rank = 0; rank < 3; ++rank) cluster.wait_for_output({"worker", rank}, "training");
  cluster.kill({"worker", victim}, signal);
  const std::string reason =
      signal == SIGKILL ? "it crashed or was killed" : "it has been silent for";
  for (int rank = 0; rank < 3; ++rank) {
    if (rank == victim) continue;
    CHECK(cluster.wait_for_end({"worker", rank}, 30).code != 0);
    CHECK_THAT(cluster.output({"worker", rank}),
               Contains(str_cat("The job has stopped: worker ", victim, " (")) &&
                   Contains(reason) && Contains("STOPPED"));
  }
  cluster.kill({"worker", victim}, SIGKILL);
}
