#include <distribute/data/distribute_options.hpp>

#include <distribute/base/error.hpp>
#include <distribute/data/input_context.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

using Sizes = std::vector<int64_t>;

TEST_CASE("batch_sizes_for_worker rotates the sizes from worker to worker", "[data]") {
  CHECK(batch_sizes_for_worker(7, 2, 2, 0) == Sizes{2, 2, 2, 1});
  CHECK(batch_sizes_for_worker(7, 2, 2, 1) == Sizes{2, 1, 2, 2});
  CHECK(batch_sizes_for_worker(8, 1, 2, 0) == Sizes{4, 4});
  CHECK(batch_sizes_for_worker(2, 1, 4, 0) == Sizes{1, 1, 0, 0});
}

TEST_CASE("batch_sizes_for_worker refuses workers that do not exist", "[data]") {
  CHECK_THROWS_AS(batch_sizes_for_worker(7, 2, 2, 2), InvalidArgumentError);
  CHECK_THROWS_AS(batch_sizes_for_worker(0, 2, 2, 0), InvalidArgumentError);
  CHECK_THROWS_AS(batch_sizes_for_worker(7, 0, 2, 0), InvalidArgumentError);
}

TEST_CASE("InputContext divides the global batch", "[data][input_context]") {
  const InputContext context(2, 1, 4);
  CHECK(context.num_input_pipelines() == 2);
  CHECK(context.input_pipeline_id() == 1);
  CHECK(context.get_per_replica_batch_size(12) == 3);
  CHECK_THROWS_AS(context.get_per_replica_batch_size(13), InvalidArgumentError);
  CHECK(to_string(context) == "InputContext(input pipeline id: 1, total: 2)");
  CHECK(InputContext().get_per_replica_batch_size(7) == 7);
}
