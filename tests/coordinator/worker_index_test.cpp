#include <distribute/coordinator/per_worker_values.hpp>

#include <tests/coordinator/thread_workers.hpp>
#include <tests/support/catch.hpp>

#include <set>

using namespace thread_workers;  // NOLINT: tests only

TEST_CASE("a function knows on which worker it runs", "[coordinator][worker_index]") {
  RemoteFunction index("index", [] { return experimental_get_current_worker_index(); });
  RemoteFunction first("first", [](data::Iterator& it) {
    return int(it.next().x.item<int64_t>()) - experimental_get_current_worker_index();
  });
  RemoteDataset numbers("numbers", [](const InputContext& input) {
    const int64_t here = experimental_get_current_worker_index();
    if (here != input.input_pipeline_id()) throw InternalError("another worker's dataset");
    return data::Dataset::range(here, here + 1).repeat();
  });
  Cluster cluster(3);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  const auto per_worker = coordinator.create_per_worker_dataset(numbers);
  for (int i = 0; i < 6; ++i) {
    const int worker = coordinator.schedule(index).fetch();
    CHECK(worker >= 0);
    CHECK(worker < 3);
    CHECK(coordinator.schedule(first, per_worker).fetch() == 0);
  }
}

TEST_CASE("there is no worker index outside of the coordinator's functions",
          "[coordinator][worker_index]") {
  CHECK_THROWS_WITH(experimental_get_current_worker_index(),
                    Catch::Contains("Cannot retrieve the worker index"));
  {
    const coordinator_internal::WorkerIndexScope scope(2);
    CHECK(experimental_get_current_worker_index() == 2);
  }
  CHECK_THROWS_AS(experimental_get_current_worker_index(), FailedPreconditionError);
}
