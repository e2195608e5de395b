#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

#include <tests/support/catch.hpp>

#include <set>
#include <vector>

using namespace distribute;
using data::Dataset;
using Values = std::vector<float>;
using Steps = std::vector<std::vector<Values>>;

namespace {

/// Step by step what each replica got.
Steps steps_of(const DistributedDataset& dataset) {
  Steps steps;
  for (const auto& element : dataset) {
    steps.emplace_back();
    for (const data::Batch& part : element.values()) steps.back().push_back(part.x.to_vector());
  }
  return steps;
}

Steps split(int replicas, const Dataset& dataset) {
  MirroredStrategy strategy({.num_replicas = replicas});
  return steps_of(strategy.experimental_distribute_dataset(dataset));
}

}  // namespace

TEST_CASE("an uneven last batch leaves replicas with few or no rows (case 67)",
          "[strategy][distributed_dataset]") {
  const Dataset nine = Dataset::range(9);
  CHECK(split(2, nine.batch(2)) ==
        Steps{{{0}, {1}}, {{2}, {3}}, {{4}, {5}}, {{6}, {7}}, {{8}, {}}});
  CHECK(split(2, nine.batch(2, true)) == Steps{{{0}, {1}}, {{2}, {3}}, {{4}, {5}}, {{6}, {7}}});
}

TEST_CASE("a batch is split evenly over the replicas (case 70)",
          "[strategy][distributed_dataset]") {
  const Steps steps = split(2, Dataset::range(100).batch(10));
  REQUIRE(steps.size() == 10);
  for (const auto& step : steps) CHECK((step[0].size() == 5 && step[1].size() == 5));
}

TEST_CASE("the examples of the input tutorial (case 81)", "[strategy][distributed_dataset]") {
  CHECK(split(2, Dataset::range(6).batch(4)) == Steps{{{0, 1}, {2, 3}}, {{4}, {5}}});
  CHECK(split(5, Dataset::range(4).batch(4)) == Steps{{{0}, {1}, {2}, {3}, {}}});
  CHECK(split(3, Dataset::range(8).batch(4)) == Steps{{{0, 1}, {2, 3}, {}}, {{4, 5}, {6, 7}, {}}});
}

TEST_CASE("an empty part has the rank, dtype and other axes of the rest (case 79)",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const Dataset one = Dataset::from_tensor_slices(zeros({1, 28, 28, 1}), Tensor{int64_t{3}});
  auto it = strategy.experimental_distribute_dataset(one.batch(4)).iterator();
  const auto step = it.get_next();
  CHECK(step[0].x.shape() == Shape{1, 28, 28, 1});
  CHECK(step[1].x.shape() == Shape{0, 28, 28, 1});
  CHECK(step[1].y.shape() == Shape{0});
  CHECK(step[1].y.dtype() == DType::Int64);
}

TEST_CASE("get_next ends with OutOfRange, get_next_as_optional with none (case 79)",
          "[strategy][distributed_dataset]") {
  const int n = GENERATE(1, 2, 3, 4);
  MirroredStrategy strategy({.num_replicas = n});
  const auto dataset = strategy.experimental_distribute_dataset(Dataset::range(8).batch(8));
  auto it = dataset.iterator();
  CHECK(it.get_next().size() == size_t(n));
  CHECK_FALSE(it.get_next_as_optional());
  CHECK_THROWS_AS(it.get_next(), OutOfRangeError);
  CHECK(dataset.iterator().get_next()[0].x.to_vector()[0] == 0);  // a new one starts again
}

TEST_CASE("next may not be called inside a replica", "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  auto it = strategy.experimental_distribute_dataset(Dataset::range(8).batch(4)).iterator();
  CHECK_THROWS_WITH(strategy.run([&] { it.get_next(); }),
                    Catch::Contains("should be called from outside of replica_fn"));
}

TEST_CASE("elements without a batch axis cannot be split", "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  CHECK_THROWS_WITH(strategy.experimental_distribute_dataset(Dataset::range(8)),
                    Catch::Contains("call the `batch` method on the input Dataset"));
}

TEST_CASE("input options that contradict each other are refused (case 76)",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const Dataset dataset = Dataset::range(8).batch(4);
  const auto from_function = [&](const InputOptions& options) {
    return strategy.distribute_datasets_from_function([&](const InputContext&) { return dataset; },
                                                      options);
  };
  CHECK_THROWS_AS(from_function({.experimental_place_dataset_on_device = true}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(from_function({.experimental_fetch_to_device = true,
                                 .experimental_replication_mode = InputReplicationMode::PerReplica,
                                 .experimental_place_dataset_on_device = true}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(strategy.experimental_distribute_dataset(
                      dataset, {.experimental_replication_mode = InputReplicationMode::PerReplica}),
                  UnimplementedError);
  OneDeviceStrategy one;
  CHECK_THROWS_AS(one.distribute_datasets_from_function(
                      [&](const InputContext&) { return dataset; },
                      {.experimental_replication_mode = InputReplicationMode::PerReplica}),
                  UnimplementedError);
}

TEST_CASE("a dataset placed on its replica's device runs there on CPUs",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  InputOptions options{.experimental_fetch_to_device = false,
                       .experimental_replication_mode = InputReplicationMode::PerReplica,
                       .experimental_place_dataset_on_device = true};
  const auto make = [](const InputContext& input) {
    return Dataset::range(8).shard(input.num_input_pipelines(), input.input_pipeline_id()).batch(2);
  };
  CHECK(steps_of(strategy.distribute_datasets_from_function(make, options)) ==
        Steps{{{0, 2}, {1, 3}}, {{4, 6}, {5, 7}}});
  options.experimental_fetch_to_device.reset();  // means true
  CHECK_THROWS_WITH(strategy.distribute_datasets_from_function(make, options),
                    Catch::Contains("set experimental_fetch_to_device = false"));
}

TEST_CASE("a step that not all replicas have data for ends a pass of known sizes",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto three = [](bool drop) {
    return [drop](const InputContext&) { return Dataset::range(6).batch(2, drop); };
  };
  const auto fixed = strategy.distribute_datasets_from_function(three(true));
  CHECK(steps_of(fixed) == Steps{{{0, 1}, {2, 3}}});
  auto it = fixed.iterator();
  it.next();
  CHECK_THROWS_AS(it.next(), OutOfRangeError);
  auto whole = fixed.iterator();
  whole.get_next_as_optional();
  const auto rest = whole.get_next_as_optional();
  REQUIRE(rest);
  CHECK((*rest)[0].x.to_vector() == Values{4, 5});
  CHECK((*rest)[1].x.shape() == Shape{0});
  CHECK_FALSE(whole.get_next_as_optional());
  CHECK(steps_of(strategy.distribute_datasets_from_function(three(false))).size() == 2);
  // A size read off one mapped element says nothing about the others.
  const auto mapped = [](const InputContext&) {
    return Dataset::range(7).batch(3).map([](const data::Batch& b) { return data::rows(b, 0, 1); });
  };
  CHECK(steps_of(strategy.distribute_datasets_from_function(mapped)) ==
        Steps{{{0}, {3}}, {{6}, {}}});
}

TEST_CASE("both kinds of iterators have next() and get_next()", "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const Dataset dataset = Dataset::range(8).batch(4);
  auto plain = dataset.iterator();
  CHECK(plain.get_next().x.to_vector() == Values{0, 1, 2, 3});
  CHECK(plain.next().x.to_vector() == Values{4, 5, 6, 7});
  CHECK_THROWS_AS(plain.get_next(), OutOfRangeError);
  auto divided = strategy.experimental_distribute_dataset(dataset).iterator();
  CHECK(divided.get_next()[1].x.to_vector() == Values{2, 3});
  CHECK(divided.next()[1].x.to_vector() == Values{6, 7});
  CHECK_THROWS_AS(divided.next(), OutOfRangeError);
}

TEST_CASE("reduce refuses a dataset without an end", "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const Dataset endless = Dataset::range(8).batch(4).repeat();
  const auto divided = strategy.experimental_distribute_dataset(endless);
  CHECK(divided.cardinality() == data::kInfiniteCardinality);
  CHECK(strategy.experimental_distribute_dataset(endless.take(3)).cardinality() == 3);
  const auto count = [](int n, const auto&) { return n + 1; };
  CHECK_THROWS_WITH(divided.reduce(0, count), Catch::Contains("reduce: the dataset never ends"));
  CHECK_THROWS_WITH(endless.reduce(0, count), Catch::Contains("give it `.take(count)`"));
  CHECK(endless.take(3).reduce(0, count) == 3);
}

TEST_CASE("parts without rows are run, reduced and averaged end to end",
          "[strategy][distributed_dataset]") {
  const int n = GENERATE(2, 3, 5);
  MirroredStrategy strategy({.num_replicas = n});
  float sum = 0, mean_of_last = 0, loss_of_last = 0;
  for (auto batch : strategy.experimental_distribute_dataset(Dataset::range(9).batch(4))) {
    const auto values = strategy.run([](const data::Batch& part) { return part.x; }, batch);
    sum += strategy.reduce(ReduceOp::Sum, values, 0).item<float>();
    mean_of_last = strategy.reduce(ReduceOp::Mean, values, 0).item<float>();
    const auto losses = strategy.run(
        [](const data::Batch& part) {
          return nn::compute_average_loss(cast(part.x, DType::Float32), 4);
        },
        batch);
    loss_of_last = strategy.reduce(ReduceOp::Sum, losses).item<float>();
  }
  CHECK(sum == 36);
  CHECK(mean_of_last == 8);
  CHECK(loss_of_last == 2);
}

TEST_CASE("a position in the middle of an epoch counts with every policy and remainder",
          "[strategy][distributed_dataset]") {
  using data::AutoShardPolicy;
  const auto policy = GENERATE(AutoShardPolicy::Auto, AutoShardPolicy::Off, AutoShardPolicy::Data);
  MirroredStrategy strategy({.num_replicas = 3});
  const auto dataset = strategy.experimental_distribute_dataset(
      Dataset::range(23)
          .shuffle(23, {.seed = 5})
          .batch(7)
          .repeat(2)
          .with_options({.experimental_distribute = {.auto_shard_policy = policy}}));
  auto it = dataset.iterator();
  while (true) {
    auto other = dataset.iterator();
    other.restore(it.state());
    const auto expected = it.next_if_any(), got = other.next_if_any();
    REQUIRE(expected.has_value() == got.has_value());
    if (!got) break;
    for (size_t r = 0; r < 3; ++r) CHECK((*got)[r].x.to_vector() == (*expected)[r].x.to_vector());
  }
}

TEST_CASE("a dataset function gives each replica one element a step (case 77)",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  int calls = 0, pipelines = 1;
  const auto make = [&](const InputContext& input) {
    CHECK(input.num_input_pipelines() == pipelines);
    CHECK(input.input_pipeline_id() == (pipelines > 1 ? calls : 0));
    ++calls;
    CHECK(input.get_per_replica_batch_size(4) == 2);
    CHECK_THROWS_AS(input.get_per_replica_batch_size(5), InvalidArgumentError);
    return Dataset::range(6).batch(2);
  };
  const Steps expected{{{0, 1}, {2, 3}}, {{4, 5}, {}}};
  CHECK(steps_of(strategy.distribute_datasets_from_function(make)) == expected);
  CHECK(calls == 1);
  const InputOptions ahead{.experimental_per_replica_buffer_size = 3};
  CHECK(steps_of(strategy.distribute_datasets_from_function(make, ahead)) == expected);
  const InputOptions each{.experimental_replication_mode = InputReplicationMode::PerReplica};
  calls = 0, pipelines = 2;
  CHECK(steps_of(strategy.distribute_datasets_from_function(make, each)) ==
        Steps{{{0, 1}, {0, 1}}, {{2, 3}, {2, 3}}, {{4, 5}, {4, 5}}});
  CHECK(calls == 2);
}

TEST_CASE("a shuffled dataset comes in a new order each time (case 78)",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto dataset = strategy.experimental_distribute_dataset(
      Dataset::range(64).shuffle(64, {.seed = 1}).batch(64));
  const Steps first = steps_of(dataset), second = steps_of(dataset);
  CHECK(first != second);
  std::multiset<float> all(first[0][0].begin(), first[0][0].end());
  all.insert(first[0][1].begin(), first[0][1].end());
  CHECK(all.size() == 64);
  CHECK((*all.begin() == 0 && *all.rbegin() == 63));
}

TEST_CASE("the position of a distributed iterator can be saved and restored",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const auto dataset = strategy.experimental_distribute_dataset(
      Dataset::range(24).shuffle(24, {.seed = 5}).batch(4));
  auto it = dataset.iterator();
  it.get_next();
  const Tensor position = it.state();
  const auto expected = it.get_next();
  auto other = dataset.iterator();
  other.restore(position);
  const auto got = other.get_next();
  for (size_t r = 0; r < 2; ++r) CHECK(got[r].x.to_vector() == expected[r].x.to_vector());
  CHECK_THROWS_AS(other.restore(Tensor{int64_t{7}}), InvalidArgumentError);
}

TEST_CASE("strategies of one replica pass a dataset through (case 9)",
          "[strategy][distributed_dataset]") {
  OneDeviceStrategy one;
  const Steps expected{{{0, 1}}, {{2}}};
  CHECK(steps_of(one.experimental_distribute_dataset(Dataset::range(3).batch(2))) == expected);
  CHECK(steps_of(get_strategy().experimental_distribute_dataset(Dataset::range(3).batch(2))) ==
        expected);
  const auto scalars = get_strategy().experimental_distribute_dataset(Dataset::range(2));
  CHECK(steps_of(scalars) == Steps{{{0}}, {{1}}});
}

TEST_CASE("run takes a loop's batch and reduce weighs its rows",
          "[strategy][distributed_dataset]") {
  const int n = GENERATE(1, 2, 3, 4);
  CentralStorageStrategy strategy({.num_replicas = n});
  float mean_of_last = 0;
  for (auto batch : strategy.experimental_distribute_dataset(Dataset::range(9).batch(4))) {
    const auto values = strategy.run([](const data::Batch& part) { return part.x; }, batch);
    mean_of_last = strategy.reduce(ReduceOp::Mean, values, 0).item<float>();
  }
  CHECK(mean_of_last == 8);
}

namespace {

struct Example {
  Tensor image;
  Tensor label;
};

}  // namespace

TEST_CASE("replicas get elements with names, or structures of the program",
          "[strategy][distributed_dataset]") {
  MirroredStrategy strategy({.num_replicas = 2});
  const Dataset named = Dataset::from_tensor_slices(
      data::TensorMap{{"image", Tensor{1.0f, 2.0f, 3.0f}}, {"label", Tensor{4.0f, 5.0f, 6.0f}}});
  Values sums;
  for (const auto& batch : strategy.experimental_distribute_dataset(named.batch(4))) {
    const auto by_map =
        strategy.run([](const data::TensorMap& map) { return map.at("image").rows(0, 1); }, batch);
    const auto by_structure =
        strategy.run([](const Example& e) { return e.label.rows(0, 1); }, batch);
    for (const auto* values : {&by_map, &by_structure})
      for (const Tensor& value : values->values()) sums.push_back(value.item<float>());
  }
  CHECK(sums == Values{1, 3, 4, 6});
}
