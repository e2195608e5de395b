#include <distribute/collective/communicator.hpp>
#include <distribute/collective/mpi_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/support/mpirun.hpp>

using namespace distribute;
using namespace distribute::collective;
using Catch::Contains;

namespace {

void check(bool right, const char* what) {
  if (!right) throw InternalError(str_cat("wrong result of ", what));
}

/// The sum of all ranks' numbers, by the specification.
std::vector<float> sum_of(int ranks, int64_t count) {
  std::vector<float> sum = contract::numbers<float>(0, count);
  for (int r = 1; r < ranks; ++r) {
    const auto part = contract::numbers<float>(r, count);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  }
  return sum;
}

void run_collectives(Communicator& group) {
  const int rank = group.rank(), ranks = group.size();
  for (int64_t count : {0, 1, 1000, 70'000, 1'000'001}) {
    auto data = contract::numbers<float>(rank, count);
    group.all_reduce(data.data(), count, DType::Float32);
    check(data == sum_of(ranks, count), "all_reduce");
  }
  const auto counts = contract::uneven(ranks, 50'000);
  const int64_t all = total(counts);
  const auto mine = contract::numbers<float>(rank, counts[size_t(rank)]);
  std::vector<float> out(static_cast<size_t>(all)), joined;
  for (int r = 0; r < ranks; ++r)
    for (float x : contract::numbers<float>(r, counts[size_t(r)])) joined.push_back(x);
  group.all_gather(mine.data(), out.data(), counts, DType::Float32);
  check(out == joined, "all_gather");
  auto data = contract::numbers<float>(rank, all);
  group.reduce(data.data(), all, DType::Float32, ReductionOp::Sum, ranks - 1);
  group.broadcast(data.data(), all, DType::Float32, ranks - 1);
  check(data == sum_of(ranks, all), "reduce and broadcast");
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  float token = float(rank);
  if (rank == 0) group.send(&token, 1, DType::Float32, to);
  group.receive(&token, 1, DType::Float32, from);
  check(token == float(from), "receive");
  token = float(rank);
  if (rank != 0) group.send(&token, 1, DType::Float32, to);
  group.barrier();
}

}  // namespace

TEST_CASE("a rank under mpirun: collectives", "[.mpi_collectives]") {
  if (!is_mpi_rank()) return;
  Communicator group(make_mpi_transport(), {.timeout_seconds = 30});
  REQUIRE(group.size() == 3);
  CHECK_NOTHROW(run_collectives(group));
}

TEST_CASE("a rank under mpirun: different collectives", "[.mpi_mismatch]") {
  if (!is_mpi_rank()) return;
  Communicator group(make_mpi_transport(), {.timeout_seconds = 10});
  float data[100] = {};
  group.barrier();
  try {
    group.rank() == 1 ? group.broadcast(data, 100, DType::Float32, 0)
                      : group.all_reduce(data, 100, DType::Float32);
    group.barrier();
    FAIL("no error");
  } catch (const FailedPreconditionError& error) {
    CHECK_THAT(error.what(), Contains("broadcast #2") && Contains("all_reduce(sum) #2"));
  }
}

TEST_CASE("a rank under mpirun: one does not come", "[.mpi_late]") {
  if (!is_mpi_rank()) return;
  Communicator group(make_mpi_transport(), {.timeout_seconds = 1});
  float data[1] = {};
  group.barrier();
  if (group.rank() == 1)
    CHECK_THROWS_WITH(group.receive(data, 1, DType::Float32, 0), Contains("rank"));
  else
    CHECK_THROWS_WITH(group.all_reduce(data, 1, DType::Float32), Contains("rank 1"));
}

TEST_CASE("collectives over MPI with three ranks", "[collective][mpi]") {
  if (!has_mpi()) SKIP("this build has no MPI (DISTRIBUTE_WITH_MPI=ON)");
  if (!has_mpirun()) SKIP("there is no mpirun (apt-get install openmpi-bin)");
  CHECK(run_with_mpi("[.mpi_collectives]").passed == 3);
}

TEST_CASE("errors over MPI with three ranks", "[collective][mpi]") {
  if (!has_mpi()) SKIP("this build has no MPI (DISTRIBUTE_WITH_MPI=ON)");
  if (!has_mpirun()) SKIP("there is no mpirun (apt-get install openmpi-bin)");
  CHECK(run_with_mpi("[.mpi_mismatch]").passed == 3);
  CHECK(run_with_mpi("[.mpi_late]").passed == 3);
}

TEST_CASE("a build without MPI says what is missing", "[collective][mpi]") {
  if (has_mpi()) SKIP("this build has MPI");
  CHECK_THROWS_WITH(make_mpi_transport(), Contains("libopenmpi-dev"));
}
