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

TEST_CASE("the rows of all replicas are those of the batch, in order", "[data]") {
  const Batch batch{.x = Tensor(Shape{7, 1}, std::vector<float>{0, 1, 2, 3, 4, 5, 6}),
                    .y = Tensor(Shape{7}, std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6})};
  for (const int64_t replicas : {1, 3, 7, 9}) {
    std::vector<float> all;
    for (int64_t replica = 0; replica < replicas; ++replica) {
      const Batch part = rows_of_replica(batch, replica, replicas);
      const auto mine = part.x.to_vector();
      CHECK(batch_size(part) == int64_t(mine.size()));
      CHECK(part.y.shape()[0] == part.x.shape()[0]);
      all.insert(all.end(), mine.begin(), mine.end());
    }
    CHECK(all == batch.x.to_vector());
  }
  CHECK(rows_of_replica(batch, 0, 3).x.to_vector() == std::vector<float>{0, 1, 2});
  CHECK_THROWS_AS(rows_of_replica(batch, 3, 3), InvalidArgumentError);
  CHECK_THROWS_AS(rows_of_replica(batch, -1, 3), InvalidArgumentError);
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
