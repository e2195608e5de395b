#include <distribute/collective/engine_module.h>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/net/deadline.hpp>

#include <tests/collective/contract.hpp>
#include <tests/support/mpirun.hpp>
#include <tests/support/source_dir.hpp>

#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <thread>

using namespace distribute;
using namespace distribute::collective;
using Catch::Contains;

// Version 3 of the modules' interface: what changes here needs a new DISTRIBUTE_ENGINE_ABI, unless
// it is added at the end.
static_assert(DISTRIBUTE_ENGINE_ABI == 3 && DISTRIBUTE_ENGINE_TAG_BITS == 15);
static_assert(sizeof(distribute_engine_error) == 512 && sizeof(distribute_engine_event) == 16);
static_assert(offsetof(distribute_engine_module, abilities) == 8);
static_assert(offsetof(distribute_engine_module, name) == 16);
static_assert(offsetof(distribute_engine_module, open) == 32);
static_assert(offsetof(distribute_engine_module, send) == 72);
static_assert(offsetof(distribute_engine_module, all_reduce) == 88);
static_assert(offsetof(distribute_engine_module, close) == 112);
static_assert(sizeof(distribute_engine_module) == 120);
static_assert(DISTRIBUTE_ENGINE_FLOAT32 == 0 && DISTRIBUTE_ENGINE_INT8 == 5 &&
              DISTRIBUTE_ENGINE_SUM == 0 && DISTRIBUTE_ENGINE_PRODUCT == 3);

namespace {

/// The one rank of this process, in groups of as many as mpirun has started.
contract::MakeGroup mpi_group(const EngineTransportOptions& options) {
  static const int world =
      std::atoi(std::getenv("OMPI_COMM_WORLD_SIZE") ? std::getenv("OMPI_COMM_WORLD_SIZE")
                                                    : std::getenv("PMI_SIZE"));
  return [options](int size) {
    std::vector<std::unique_ptr<Transport>> group;
    if (size == world) group.push_back(make_mpi_transport(options));
    return group;
  };
}

/// Of ranks in this process: of those that are not all see both counts.
void run_different_counts(const contract::MakeGroup& make, int64_t others, int64_t of_rank_1) {
  const auto errors = contract::run_ranks(make, 3, [&](Communicator& group) {
    std::vector<float> data(size_t(std::max(others, of_rank_1)));
    group.barrier();
    group.all_reduce(data.data(), group.rank() == 1 ? of_rank_1 : others, DType::Float32);
  });
  for (const std::string& error : errors)
    if (error != contract::kElsewhere)
      CHECK_THAT(error, Contains(std::to_string(others)) && Contains(std::to_string(of_rank_1)));
}

std::string ucx_problem() {
  std::string problem;
  find_engine(EngineKind::Ucx, problem);
  return problem;
}

}  // namespace

TEST_CASE("the modules' interface is C", "[collective][engine]") {
  const std::string command = "cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c " +
                              distribute::testing::source_dir() +
                              "/include/distribute/collective/engine_module.h";
  CHECK(std::system(command.c_str()) == 0);
}

TEST_CASE("UCX holds the contract, with ranks as threads", "[collective][engine][ucx]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  contract::check([](int size) {
    const bool taken = size == 2 || size == 3 || size == 5;
    return taken ? make_ucx_transports(size) : std::vector<std::unique_ptr<Transport>>();
  });
}

TEST_CASE("over UCX a rank goes on when its message is sent, whatever the receivers do",
          "[collective][engine][ucx]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  std::latch sent(1);
  const auto errors = contract::run_ranks(
      make_ucx_transports, 3,
      [&](Communicator& group) {
        group.barrier();
        int32_t number = 7;
        if (group.rank() == 0) {
          const absl::Cleanup tell = [&] { sent.count_down(); };
          for (int to : {1, 2}) group.send(&number, 1, DType::Int32, to);
          return;
        }
        number = 0;
        sent.wait();
        group.receive(&number, 1, DType::Int32, 0);
        if (number != 7) throw InternalError("another number");
      },
      5);
  CHECK(errors == std::vector<std::string>(3));
}

TEST_CASE("over UCX ranks that run different large collectives learn it",
          "[collective][engine][ucx]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  const int64_t of_rank_1 = GENERATE(99'000, 101'000, 3'000'000);
  run_different_counts(make_ucx_transports, 100'000, of_rank_1);
}

TEST_CASE("over UCX thousands of messages keep their order", "[collective][engine][ucx]") {
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  constexpr int kMessages = 2500, kNumbers = 2500;  // too long to travel with their heads
  contract::run_clean(make_ucx_transports, 2, [](Communicator& group) {
    std::vector<int32_t> data(kNumbers);
    for (int i = 0; i < kMessages; ++i) {
      std::fill(data.begin(), data.end(), group.rank() == 0 ? i : -1);
      if (group.rank() == 0)
        group.send(data.data(), kNumbers, DType::Int32, 1);
      else
        group.receive(data.data(), kNumbers, DType::Int32, 0);
      if (data[0] != i || data[kNumbers - 1] != i) throw InternalError("another message");
    }
  });
}

TEST_CASE("a rank under mpirun: the contract", "[.mpi_contract]") {
  if (!is_mpi_rank()) return;
  contract::check(mpi_group({.rank_order = true}));
}

/// Without errors: here a rank that leaves takes its connections along, and is missed at once.
TEST_CASE("a rank under mpirun: collectives over UCX", "[.ucx_collectives]") {
  if (!is_mpi_rank()) return;
  const auto make_mpi = mpi_group({});
  const auto make = [&](int size) {
    auto group = make_mpi(size);
    if (group.empty()) return group;
    Communicator mpi(std::move(group[0]));  // through which the ranks tell their addresses
    group[0] = make_ucx_transport(mpi);
    return group;
  };
  SECTION("all-reduce") { contract::all_reduce_cases(make); }
  SECTION("other collectives") { contract::other_collectives(make); }
}

TEST_CASE("a rank under mpirun: all-reduces of MPI itself", "[.mpi_reduces]") {
  if (!is_mpi_rank()) return;
  const auto make = mpi_group({.own_all_reduce_bytes = 4096});
  const auto transport = make(3);
  REQUIRE(transport.size() == 1);
  CHECK(std::string(transport[0]->name()).find("mpi") != std::string::npos);
  SECTION("sums are as close as their order allows, with the same bits on every rank") {
    contract::run_clean(make, 3, [&](Communicator& group) {
      for (int64_t count : {1024, 70'001, 1'000'003}) {
        std::vector<float> data = contract::numbers<float>(group.rank(), count), sum(data.size());
        for (int r = 0; r < 3; ++r) {
          const auto part = contract::numbers<float>(r, count);
          for (size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
        }
        std::vector<float> out(data.size());
        group.all_reduce(data.data(), out.data(), count, DType::Float32, ReductionOp::Sum);
        group.all_reduce(data.data(), count, DType::Float32);
        for (size_t i = 0; i < sum.size(); ++i)
          if (std::abs(data[i] - sum[i]) > 1e-3f) throw InternalError("far from the sum");
        if (data != out) throw InternalError("in place and elsewhere differ");
        std::vector<float> all(data.size() * 3);
        const std::vector<int64_t> counts(3, count);
        group.all_gather(data.data(), all.data(), counts, DType::Float32);
        for (size_t i = 0; i < all.size(); ++i)
          if (all[i] != data[i % data.size()]) throw InternalError("ranks differ");
      }
      std::vector<int32_t> numbers(5000, 1 + group.rank());
      group.all_reduce(numbers.data(), 5000, DType::Int32, ReductionOp::Product);
      if (numbers != std::vector<int32_t>(5000, 6)) throw InternalError("wrong product");
    });
  }
  SECTION("they run beside the caller") {
    contract::run_clean(make, 3, [](Communicator& group) {
      std::vector<float> data(1'000'000, 1.0f);
      // Rank 0 comes once the others have begun, as they tell it elsewhere.
      const std::string place = std::getenv("TEST_PLACE");
      const auto file = [&](int rank) { return place + "/" + std::to_string(rank); };
      const auto deadline = net::Deadline::after_seconds(20);
      for (int other = 1; group.rank() == 0 && other < 3; ++other)
        while (!std::filesystem::exists(file(other)) && !deadline.passed())
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const Work work = group.all_reduce_async(data.data(), data.data(), 1'000'000, DType::Float32);
      if (group.rank() != 0 && work.done()) throw InternalError("done before rank 0 has come");
      std::ofstream(file(group.rank())) << "begun";
      while (!work.done() && !deadline.passed()) std::this_thread::yield();  // as a backward pass
      if (!work.done() || data[999'999] != 3.0f) throw InternalError("no sum without wait()");
    });
  }
  SECTION("ranks that run different collectives learn it") {
    run_different_counts(make, 100'000, 99'000);
  }
}

// Open MPI's five ranks on two cores take a minute; the code above both is the same.
TEST_CASE("MPI holds the contract, with ranks as processes", "[collective][engine][mpi]") {
  const auto [mpi, ranks] = GENERATE(table<EngineKind, int>({{EngineKind::OpenMpi, 2},
                                                             {EngineKind::OpenMpi, 3},
                                                             {EngineKind::Mpich, 3},
                                                             {EngineKind::Mpich, 5}}));
  if (const std::string problem = mpi_problem(mpi); !problem.empty()) SKIP("" + problem);
  const MpiRun run =
      run_with_mpi("[.mpi_contract]", {.mpi = mpi, .ranks = ranks, .survives = true});
  INFO(run.output);
  CHECK(run.passed == ranks);
}

TEST_CASE("collectives over UCX, with ranks as processes", "[collective][engine][ucx]") {
  const int ranks = GENERATE(2, 5);
  if (const std::string problem = ucx_problem(); !problem.empty()) SKIP("" + problem);
  if (const std::string problem = mpi_problem(EngineKind::Mpich); !problem.empty())
    SKIP("" + problem);
  const MpiRun run = run_with_mpi("[.ucx_collectives]",
                                  {.mpi = EngineKind::Mpich, .ranks = ranks, .survives = true});
  INFO(run.output);
  CHECK(run.passed == ranks);
}

TEST_CASE("Open MPI 5 runs with the module that was built with Open MPI 4",
          "[collective][engine][mpi]") {
  if (open_mpi_5().empty()) SKIP("DISTRIBUTE_TEST_OPEN_MPI_5 names no folder");
  for (const char* what : {"[.mpi_contract]", "[.mpi_reduces]"}) {
    const TemporaryDirectory place;
    const MpiRun run = run_with_mpi(
        what,
        {.environment = "TEST_PLACE=" + place.path(), .survives = true, .home = open_mpi_5()});
    INFO(run.output);
    CHECK(run.passed == 3);
  }
}

TEST_CASE("MPI's own all-reduce", "[collective][engine][mpi]") {
  const EngineKind mpi = GENERATE(EngineKind::OpenMpi, EngineKind::Mpich);
  if (const std::string problem = mpi_problem(mpi); !problem.empty()) SKIP("" + problem);
  const TemporaryDirectory place;
  const MpiRun run =
      run_with_mpi("[.mpi_reduces]",
                   {.mpi = mpi, .environment = "TEST_PLACE=" + place.path(), .survives = true});
  INFO(run.output);
  CHECK(run.passed == 3);
}
