#include <distribute/data/pipeline_statistics.hpp>

#include <distribute/data/dataset.hpp>
#include <distribute/data/distribute_options.hpp>

#include <tests/data/dataset_support.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::data;

TEST_CASE("stages count their elements and the waiting", "[data][statistics]") {
  PipelineStatistics statistics;
  const size_t stage = statistics.stage("decode");
  CHECK(statistics.stage("decode") == stage);
  statistics.add(stage, 10, 11, true);
  statistics.add(stage, 13, 14, true);
  statistics.add(stage, 14, 14, false);
  const StageStatistics total = statistics.stages().at(0);
  CHECK(total.elements == 2);
  CHECK(total.seconds_waited == 2);
  CHECK(total.seconds_elapsed == 4);
  CHECK(total.elements_per_second() == 0.5);
  CHECK(total.wait_share() == 0.5);
  CHECK(statistics.summary() == "decode               2 elements        0.5 /s   waited  50.0 %\n");
  CHECK(statistics.scalars() ==
        std::vector<std::pair<std::string, double>>{{"input/decode/elements_per_second", 0.5},
                                                    {"input/decode/wait_share", 0.5}});
  statistics.reset();
  CHECK(statistics.stages().at(0).elements == 0);
  CHECK(statistics.stages().at(0).elements_per_second() == 0);
}

TEST_CASE("measuring changes neither elements nor positions nor sharing", "[data][statistics]") {
  const auto statistics = std::make_shared<PipelineStatistics>();
  const auto make = [&](PipelineStatisticsPtr to) {
    return Dataset::range(20)
        .shuffle(20, {.seed = 1})
        .map([](const Batch& b) { return b; }, {.num_parallel_calls = 2})
        .measure(to, "map")
        .batch(4)
        .prefetch(2)
        .measure(to, "batch");
  };
  const Dataset measured = make(statistics);
  CHECK(elements_of(measured) == elements_of(make(nullptr)));
  const auto stages = statistics->stages();
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].name == "map");
  CHECK(stages[0].elements == 20);
  CHECK(stages[1].elements == 5);
  Iterator it = measured.iterator();
  it.next();
  Iterator other = measured.iterator();
  other.restore(it.state());
  CHECK(numbers_of(other.next().x) == numbers_of(it.next().x));
  CHECK(compute_batch_size(*measured.node()) == 4);
  const Dataset half(auto_shard(make(statistics).node(), 2, 1, AutoShardPolicy::Data));
  CHECK(elements_of(half).size() == 2);
}
