// MultiWorkerMirroredStrategy over engine modules.
#include <distribute/collective/engine.hpp>
#include <distribute/distribute.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/logical_devices.hpp>
#include <tests/support/mpirun.hpp>
#include <tests/support/small_training.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

using namespace distribute;
using Catch::Contains;
using collective::EngineKind;
using testing::NetworkNamespaces;
using testing::ProcessCluster;

namespace {

std::string transport_of(Strategy& strategy) {
  auto& extended = dynamic_cast<strategy_internal::MultiWorkerExtended&>(strategy.extended());
  return extended.group().replicas[0]->transport();
}

std::string ucx_problem() {
  std::string problem;
  collective::find_engine(EngineKind::Ucx, problem);
  return problem;
}

void wait_for_file(const std::string& path) {
  const auto deadline = net::Deadline::after_seconds(20);
  while (!std::filesystem::exists(path) && !deadline.passed())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

/// Where modules of another version, or none at all, are.
std::string other_modules() {
  return distribute::testing::binary_dir() + "/../lib/another_version";
}

}  // namespace

/// The argument: replicas of each worker.
DISTRIBUTE_CLUSTER_MAIN(trains_over_engine) {
  const LogicalDevices devices(std::stoi(task.argument()));
  MultiWorkerMirroredStrategy<CpuDevice> strategy({.num_replicas = std::stoi(task.argument())});
  task.set_result(transport_of(strategy) + " " +
                  bits_of_training(strategy, {.units = 4000, .steps = 5}));
}

TEST_CASE("UCX trains the bits of TCP", "[strategy][multi_worker][ucx]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  const int workers = GENERATE(2, 3);
  std::vector<std::string> results;
  for (const char* transport : {"tcp", "ucx"}) {
    ProcessCluster cluster(
        {.workers = workers,
         .function = "trains_over_engine",
         .argument = "1",
         .environment = {{"DISTRIBUTE_TRANSPORT", transport}, {"OMP_NUM_THREADS", "1"}},
         .deadline_seconds = 300});
    for (const auto& outcome : cluster.join()) {
      results.push_back(outcome.result.value());
      CHECK(results.back().substr(0, 3) == transport);
      CHECK(results.back().substr(4) == results[0].substr(4));
      if (outcome.name == "worker 0" && transport == std::string("ucx"))
        CHECK_THAT(outcome.err, Contains("collectives of") && Contains("go over ucx (UCX "));
    }
  }
}

TEST_CASE("UCX between hosts stands under the hierarchy of hosts",
          "[strategy][multi_worker][ucx]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  if (const auto reason = NetworkNamespaces::unavailable_reason(); !reason.empty())
    SKIP("" + reason);
  const NetworkNamespaces network({.hosts = 2});
  std::string first;
  for (const char* transport : {"auto", "ucx"}) {
    ProcessCluster cluster(
        {.workers = 2,
         .function = "trains_over_engine",
         .argument = "2",
         .environment = {{"DISTRIBUTE_TRANSPORT", transport}, {"OMP_NUM_THREADS", "1"}},
         .deadline_seconds = 300,
         .network = &network});
    for (const auto& outcome : cluster.join()) {
      const std::string result = outcome.result.value();
      const size_t blank = result.find(' ');
      CHECK(result.substr(0, blank) ==
            (transport == std::string("ucx") ? "hierarchical_ucx" : "hierarchical"));
      if (first.empty()) first = result.substr(blank);
      CHECK(result.substr(blank) == first);
    }
  }
}

DISTRIBUTE_CLUSTER_MAIN(trains_over_engine_for_ever) {
  MultiWorkerMirroredStrategy strategy;
  for (int step = 0;; ++step) {
    strategy.run([] { get_replica_context()->all_reduce(ReduceOp::Sum, ones({100'000})); });
    if (step == 10) std::printf("training\n"), std::fflush(stdout);
  }
}

TEST_CASE("over UCX a killed, frozen or cut off worker ends the job with its name",
          "[strategy][multi_worker][ucx]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  const int signal = GENERATE(SIGKILL, SIGSTOP, 0);  // 0: its cable is cut
  CAPTURE(signal);
  std::optional<NetworkNamespaces> network;
  if (signal == 0) {
    if (const auto reason = NetworkNamespaces::unavailable_reason(); !reason.empty())
      SKIP("" + reason);
    network.emplace(testing::NetworkOptions{.hosts = 3});
  }
  ProcessCluster cluster({.workers = 3,
                          .function = "trains_over_engine_for_ever",
                          .environment = {{"DISTRIBUTE_TRANSPORT", "ucx"},
                                          {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.2"},
                                          {"DISTRIBUTE_LOST_AFTER", "5"}},
                          .deadline_seconds = 300,
                          .network = network ? &*network : nullptr});
  for (int i = 0; i < 3; ++i) cluster.wait_for_output({"worker", i}, "training");
  network ? network->cut(1) : cluster.kill({"worker", 1}, signal);
  for (int i : {0, 2}) {
    cluster.wait_for_end({"worker", i}, 30);
    CHECK_THAT(cluster.output({"worker", i}),
               Contains("worker 1") && Contains("The job has stopped"));
  }
  if (network) {
    cluster.wait_for_end({"worker", 1}, 30);
    CHECK_THAT(cluster.output({"worker", 1}), Contains("The job has stopped"));
  }
  cluster.kill({"worker", 1}, SIGKILL);
}

TEST_CASE("a rank under mpirun: trains over MPI", "[.mpi_trains]") {
  if (!is_mpi_rank()) return;
  std::string small;
  {
    MultiWorkerMirroredStrategy strategy;
    CHECK_THAT(transport_of(strategy), Contains("mpi"));
    CHECK(strategy.num_replicas_in_sync() == 3);
    small = bits_of_training(strategy, {.steps = 5});  // its gradients are summed in rank order
  }
  const LogicalDevices devices(3);
  MirroredStrategy mirrored({.num_replicas = 3});
  CHECK(small == bits_of_training(mirrored, {.steps = 5}));
}

TEST_CASE("a rank under mpirun: with op determinism large gradients keep their bits",
          "[.mpi_deterministic]") {
  if (!is_mpi_rank()) return;
  config::experimental::enable_op_determinism();
  std::string bits;
  {
    MultiWorkerMirroredStrategy strategy;
    bits = bits_of_training(strategy, {.units = 4000, .steps = 5});
  }
  const LogicalDevices devices(3);
  MirroredStrategy mirrored({.num_replicas = 3});
  CHECK(bits == bits_of_training(mirrored, {.units = 4000, .steps = 5}));
}

TEST_CASE("a rank under mpirun: one of three is lost", "[.mpi_lost]") {
  if (!is_mpi_rank()) return;
  const int signal = std::getenv("TEST_SIGNAL") ? std::atoi(std::getenv("TEST_SIGNAL")) : SIGKILL;
  const char* reports = std::getenv("TEST_REPORTS");
  MultiWorkerMirroredStrategy strategy;
  auto& group =
      *dynamic_cast<strategy_internal::MultiWorkerExtended&>(strategy.extended()).group().workers;
  const int64_t mine = ::getpid();
  std::vector<int64_t> pids(3);
  group.all_gather(&mine, pids.data(), std::vector<int64_t>(3, 1), DType::Int64);
  const auto train = [&] {
    for (int step = 0;; ++step) {
      if (group.rank() == 1 && step == 3) ::kill(::getpid(), signal);
      strategy.run([] { get_replica_context()->all_reduce(ReduceOp::Sum, ones({100'000})); });
    }
  };
  // A launcher that has lost a rank may lose what the others print: the report goes to a file.
  const std::string file = str_cat(reports ? reports : ".", "/", group.rank());
  REQUIRE(std::freopen((file + ".part").c_str(), "w", stderr));
  CHECK_THROWS_WITH(train(), Contains("worker 1"));
  std::fflush(stderr);
  std::filesystem::rename(file + ".part", file);
  if (group.rank() != 0) return;
  wait_for_file(str_cat(reports ? reports : ".", "/2"));  // a launcher may kill it as well
  ::kill(pid_t(pids[1]), SIGKILL);
}

/// The reports of two ranks, once they are there; they may come after the launcher has ended.
std::string wait_for_reports(const std::string& directory) {
  std::string text;
  for (const char* rank : {"0", "2"}) {
    wait_for_file(directory + "/" + rank);
    std::ifstream file(directory + "/" + rank);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

int count_of_reports(const std::string& reports) {
  int count = 0;
  for (size_t at = 0; (at = reports.find("The job has stopped: worker 1", at)) != reports.npos;
       ++at)
    ++count;
  return count;
}

/// The number of ranks, of 0 and 2, that have named rank 1 or were killed before they could: the
/// report of these is in parts.
int count_of_ends(const std::string& directory) {
  int count = 0;
  for (const char* rank : {"/0", "/2"}) {
    std::ifstream file(directory + rank);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    count += file.is_open() ? count_of_reports(text) == 1
                            : std::filesystem::exists(directory + rank + ".part");
  }
  return count;
}

TEST_CASE("mpirun's ranks train over MPI", "[strategy][multi_worker][mpi]") {
  const EngineKind mpi = GENERATE(EngineKind::OpenMpi, EngineKind::Mpich);
  if (const std::string problem = mpi_problem(mpi); !problem.empty()) SKIP("" + problem);
  const launch::ReservedPort port;
  const auto environment = [&](const std::string& more) {
    return str_cat(
        "DISTRIBUTE_TRANSPORT=mpi OMP_NUM_THREADS=1 DISTRIBUTE_HEARTBEAT_INTERVAL=0.2 "
        "DISTRIBUTE_LOST_AFTER=5 MASTER_PORT=",
        port.number(), " ", more);
  };
  SECTION("small gradients with the bits of one process") {
    const MpiRun run = run_with_mpi("[.mpi_trains]", {.mpi = mpi, .environment = environment("")});
    INFO(run.output);
    CHECK(run.passed == 3);
  }
  SECTION("large ones too, with op determinism") {
    const MpiRun run =
        run_with_mpi("[.mpi_deterministic]", {.mpi = mpi, .environment = environment("")});
    INFO(run.output);
    CHECK(run.passed == 3);
  }
  SECTION("a killed or frozen rank is named by the others") {
    const int signal = GENERATE(SIGKILL, SIGSTOP);
    const TemporaryDirectory directory;
    const std::string more = str_cat("TEST_SIGNAL=", signal, " TEST_REPORTS=", directory.path());
    const MpiRun run = run_with_mpi(
        "[.mpi_lost]", {.mpi = mpi, .environment = environment(more), .survives = true});
    INFO(run.output);
    // Once a rank was killed, MPICH's launcher may kill the others before they can report it, with
    // and without a word.
    if (mpi == EngineKind::Mpich && signal == SIGKILL) {
      CHECK(run.output.find("FAILED:") == std::string::npos);
      CHECK(count_of_ends(directory.path()) == 2);
      return;
    }
    const std::string reports = wait_for_reports(directory.path());
    INFO(reports);
    CHECK(count_of_reports(reports) == 2);
  }
}

TEST_CASE("Open MPI 5 with ULFM names a killed or frozen rank", "[strategy][multi_worker][mpi]") {
  if (open_mpi_5().empty()) SKIP("DISTRIBUTE_TEST_OPEN_MPI_5 names no folder");
  const int signal = GENERATE(SIGKILL, SIGSTOP);
  const launch::ReservedPort port;
  const TemporaryDirectory directory;
  const MpiRun run =
      run_with_mpi("[.mpi_lost]",
                   {.environment = str_cat(
                        "DISTRIBUTE_TRANSPORT=mpi DISTRIBUTE_HEARTBEAT_INTERVAL=0.2 "
                        "DISTRIBUTE_LOST_AFTER=5 MASTER_PORT=",
                        port.number(), " TEST_SIGNAL=", signal, " TEST_REPORTS=", directory.path()),
                    .survives = true,
                    .home = open_mpi_5()});
  INFO(run.output);
  CHECK(count_of_reports(wait_for_reports(directory.path())) == 2);
}

/// The argument says what is wrong with worker 1, or with all.
DISTRIBUTE_CLUSTER_MAIN(asks_for_engine) {
  const std::string& what = task.argument();
  const bool odd = task.index() == 1;
  if (what == "missing" && odd) ::setenv("DISTRIBUTE_ENGINE_PATH", "/nowhere", 1);
  if (what == "another version" && odd)
    ::setenv("DISTRIBUTE_ENGINE_PATH", other_modules().c_str(), 1);
  if (what == "damaged" && odd) ::setenv("DISTRIBUTE_ENGINE_PATH", std::getenv("DAMAGED"), 1);
  if (what == "different") ::setenv(odd ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK", "0", 1);
  if (what == "no device" && odd) ::setenv("UCX_TLS", "nothing", 1);
  if (what == "two MPIs")
    for (const char* name : {"libmpi.so.40", "libmpich.so.12"}) ::dlopen(name, RTLD_LAZY);
  CommunicationOptions options;
  if (what == "program") options.implementation = CommunicationImplementation::Ucx;
  MultiWorkerMirroredStrategy<CpuDevice> strategy({.communication_options = options});
  task.set_result(transport_of(strategy));
}

TEST_CASE("an engine that not all workers can have is an error of all, with the cure",
          "[strategy][multi_worker][engine]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  const TemporaryDirectory directory;
  std::ofstream(directory / "libdistribute_ucx.so") << "no library";
  struct Case {
    const char *what, *transport, *words;
  };
  const auto [what, transport, words] =
      GENERATE(Case{"missing", "ucx", "no libdistribute_ucx.so in /nowhere; install libucx-dev"},
               Case{"another version", "ucx", "version 4 of the modules' interface"},
               Case{"damaged", "ucx", "libdistribute_ucx.so: file too short"},
               Case{"no device", "ucx", "the engine ucx: UCX: cannot start"},
               Case{"different", "mpi", "the tasks disagree about the engine: openmpi in worker 0"},
               Case{"two MPIs", "mpi", "two MPIs are loaded in this process"},
               Case{"program", "tcp", "DISTRIBUTE_TRANSPORT is tcp, and the program's"});
  CAPTURE(what);
  if (transport == std::string("mpi") && !mpi_problem(EngineKind::Mpich).empty()) SKIP("no MPICH");
  ProcessCluster cluster(
      {.workers = 2,
       .function = "asks_for_engine",
       .argument = what,
       .environment = {{"DISTRIBUTE_TRANSPORT", transport}, {"DAMAGED", directory.path()}},
       .deadline_seconds = 300});
  for (const auto& outcome : cluster.wait()) {
    CHECK_FALSE(outcome.status.ok());
    CHECK_THAT(outcome.err, Contains(words));
  }
}

TEST_CASE("a program asks for an engine itself", "[strategy][multi_worker][engine]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  ProcessCluster cluster({.workers = 2,
                          .function = "asks_for_engine",
                          .argument = "program",
                          .deadline_seconds = 300});
  for (const auto& outcome : cluster.join()) CHECK(outcome.result == "ucx");
}

TEST_CASE("encryption between hosts and an engine exclude each other",
          "[strategy][multi_worker][engine]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  if (const auto reason = NetworkNamespaces::unavailable_reason(); !reason.empty())
    SKIP("" + reason);
  const NetworkNamespaces network({.hosts = 2});
  ProcessCluster cluster({.workers = 2,
                          .function = "asks_for_engine",
                          .environment = {{"DISTRIBUTE_TRANSPORT", "ucx"}, {"DISTRIBUTE_TLS", "1"}},
                          .deadline_seconds = 300,
                          .network = &network});
  for (const auto& outcome : cluster.wait())
    CHECK_THAT(outcome.err, Contains("DISTRIBUTE_TLS=1 does not reach what ucx sends"));
}
