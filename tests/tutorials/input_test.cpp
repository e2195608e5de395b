/// The tutorial "Distributed input".
#include <tests/support/catch.hpp>

#define main input_tutorial
// [tutorial]
#include <cstdio>
#include <distribute/distribute.hpp>
#include <distribute/preprocessing.hpp>
namespace dist = distribute;
namespace data = dist::data;
namespace preprocessing = dist::preprocessing;

struct Example {
  dist::Tensor features, labels;
};

void print(const dist::Tensor& value) { std::printf("%s\n", to_string(value).c_str()); }

int main() {
  // Without a strategy.
  const int64_t global_batch_size = 16;
  const auto dataset = data::Dataset::from_tensors(Example{dist::ones({1}), dist::ones({1})})
                           .repeat(100)
                           .batch(global_batch_size);
  const auto train_step = [](const Example& inputs) {
    return inputs.labels - 0.3f * inputs.features;
  };
  for (const Example inputs : dataset) print(train_step(inputs));

  // experimental_distribute_dataset: a global batch in each step, here for two CPU devices.
  dist::MirroredStrategy mirrored_strategy({"/cpu:0", "/cpu:1"});
  const auto dist_dataset = mirrored_strategy.experimental_distribute_dataset(dataset);
  const auto first = [](const data::Batch& batch) { return batch.x; };
  const auto print_all = [&](const dist::PerReplica<dist::Tensor>& values) {
    for (const auto& value : mirrored_strategy.experimental_local_results(values)) print(value);
  };
  print_all(mirrored_strategy.run(first, dist_dataset.iterator().next()));

  // Sharding.
  data::Options options;
  options.experimental_distribute.auto_shard_policy = data::AutoShardPolicy::Data;
  const auto sharded = dataset.with_options(options);

  // distribute_datasets_from_function: batches of a replica's size.
  const auto dataset_fn = [&](const dist::InputContext& input_context) {
    return data::Dataset::from_tensors(Example{dist::ones({1}), dist::ones({1})})
        .repeat(64)
        .shard(input_context.num_input_pipelines(), input_context.input_pipeline_id())
        .batch(input_context.get_per_replica_batch_size(global_batch_size))
        .prefetch(2);
  };
  const auto from_function = mirrored_strategy.distribute_datasets_from_function(dataset_fn);

  // A for loop.
  for (const auto& x : from_function) print_all(mirrored_strategy.run(train_step, x));

  // An iterator, where an epoch has a number of steps.
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto dist_iterator = dist_dataset.iterator();
    for (int step = 0; step < 5; ++step)
      print_all(mirrored_strategy.run(train_step, dist_iterator.next()));
  }

  // get_next_as_optional: the last batch has one row.
  auto range = mirrored_strategy.experimental_distribute_dataset(data::Dataset::range(9).batch(4))
                   .iterator();
  for (int step = 0; step < 5; ++step) {
    const auto optional_data = range.get_next_as_optional();
    if (!optional_data) break;
    print_all(mirrored_strategy.run(first, *optional_data));
  }

  // element_spec.
  std::printf("%s\n", to_string(dist_dataset.element_spec()).c_str());

  // Data preprocessing with a lookup layer.
  const preprocessing::StringLookup layer({.vocabulary = {"a", "b", "c", "d", "f"}});
  const auto lookup_fn = [&](const dist::InputContext& input_context) {
    return data::Dataset::from_tensor_slices(preprocessing::strings_tensor({"a", "c", "e"}))
        .repeat()
        .batch(input_context.get_per_replica_batch_size(4))
        .shard(input_context.num_input_pipelines(), input_context.input_pipeline_id())
        .map([&](const data::Batch& strings) { return layer(strings.x); });
  };
  auto distributed = mirrored_strategy.distribute_datasets_from_function(lookup_fn).iterator();
  for (int i = 0; i < 3; ++i) print_all(mirrored_strategy.run(first, distributed.next()));

  // Partial batches and predictions in the order of the data.
  const auto numbered = data::Dataset::range(24).enumerate().batch(6);
  const auto predict = [](const dist::Tensor& index, const dist::Tensor& inputs) {
    return Example{index, inputs * dist::Tensor(int64_t{2})};
  };
  std::map<int64_t, int64_t> result;
  for (const auto& x : mirrored_strategy.experimental_distribute_dataset(numbered)) {
    const auto outputs = mirrored_strategy.run(
        [&](const data::Batch& batch) { return predict(batch.x, batch.y); }, x);
    for (const auto& [indices, values] : outputs.values())
      for (int64_t i = 0; i < indices.num_elements(); ++i)
        result[indices.data<int64_t>()[i]] = values.data<int64_t>()[i];
  }
  for (const auto& [index, value] : result)
    std::printf("%lld: %lld\n", (long long)index, (long long)value);

  // Arbitrary tensors.
  const auto distributed_values = mirrored_strategy.experimental_distribute_values_from_function(
      [](const dist::ValueContext& ctx) { return dist::Tensor(ctx.replica_id_in_sync_group); });
  for (int i = 0; i < 4; ++i)
    print_all(mirrored_strategy.run([](const dist::Tensor& x) { return x; }, distributed_values));

  // A generator.
  const auto generated = data::Dataset::from_generator(
      [] {
        return [seed = uint64_t{0}]() mutable -> std::optional<data::Batch> {
          return data::Batch{dist::random::uniform({4}, ++seed)};
        };
      },
      {{.shape = {4}}});
  auto iterator = mirrored_strategy.experimental_distribute_dataset(generated.batch(2)).iterator();
  for (int i = 0; i < 4; ++i) print_all(mirrored_strategy.run(first, iterator.next()));
  return 0;
}
// [tutorial]
#undef main

TEST_CASE("distributed input", "[tutorials]") { CHECK(input_tutorial() == 0); }
