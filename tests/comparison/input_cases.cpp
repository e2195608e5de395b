#include "cases.hpp"

#include <distribute/data/dataset.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/input_context.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/sharded_variable.hpp>

namespace comparison {

namespace {

using dist::data::AutoShardPolicy;
using dist::data::Batch;
using dist::data::Dataset;

std::string rows_of(const Tensor& tensor) {
  std::vector<double> values;
  if (tensor && tensor.num_elements() > 0)
    for (int64_t value : tensor.data<int64_t>()) values.push_back(double(value));
  return rows(values);
}

std::string steps(const dist::DistributedDataset& dataset) {
  std::string text;
  bool first = true;
  for (const auto& step : dataset) {
    if (!first) text += ", ";
    first = false;
    for (const Batch& part : step.values()) text += rows_of(part.x);
  }
  return text;
}

void batch_cases(int replicas) {
  auto strategy = mirrored(replicas);
  const std::vector<std::pair<int64_t, int64_t>> sizes{{6, 4}, {8, 4},  {5, 5}, {10, 8},
                                                       {7, 3}, {12, 6}, {9, 2}, {1, 4}};
  for (const auto& [count, batch] : sizes)
    for (bool drop : {false, true})
      run_case(dist::str_cat("input/range(", count, ").batch(", batch, drop ? ", drop)/" : ")/",
                             replicas, " replicas"),
               [&, count = count, batch = batch] {
                 return steps(strategy.experimental_distribute_dataset(
                     Dataset::range(count).batch(batch, drop)));
               });
}

void pipeline_cases() {
  auto strategy = mirrored(2);
  const Dataset data = Dataset::range(10);
  const auto distributed = [&](const char* name, const auto& make) {
    run_case(dist::str_cat("input/", name),
             [&] { return steps(strategy.experimental_distribute_dataset(make())); });
  };
  distributed("batch of batches", [&] { return data.batch(2, true).batch(3); });
  distributed("map behind batch", [&] {
    return data.batch(4).map([](const Batch& b) { return Batch{b.x * int64_t(2)}; });
  });
  distributed("map that makes rows", [] {
    return Dataset::range(8).batch(4).map([](const Batch& b) {
      return Batch{dist::concat({b.x, b.x + int64_t(100)}, 0)};
    });
  });
  distributed("repeat behind batch", [] { return Dataset::range(3).batch(2).repeat(2); });
  distributed("take behind batch", [&] { return data.batch(4).take(2); });
  distributed("unbatched", [&] { return data.take(3); });
  const std::vector<std::pair<const char*, AutoShardPolicy>> policies{
      {"OFF", AutoShardPolicy::Off},
      {"DATA", AutoShardPolicy::Data},
      {"AUTO", AutoShardPolicy::Auto}};
  for (const auto& [name, policy] : policies)
    distributed(dist::str_cat("policy ", name).c_str(), [&, policy = policy] {
      dist::data::Options options;
      options.experimental_distribute.auto_shard_policy = policy;
      return data.batch(4).with_options(options);
    });
  run_case("input/from a function", [&] {
    return steps(strategy.distribute_datasets_from_function(
        [&](const dist::InputContext&) { return data.batch(3); }));
  });
}

struct WorkerSizes {
  int64_t size, workers, replicas;
};

}  // namespace

void input_cases() {
  for (int replicas : {1, 2, 3, 4}) batch_cases(replicas);
  pipeline_cases();
  for (const auto& [size, workers, replicas] :
       {WorkerSizes{10, 1, 2}, WorkerSizes{10, 2, 2}, WorkerSizes{7, 2, 1}, WorkerSizes{16, 2, 4},
        WorkerSizes{5, 2, 4}, WorkerSizes{1, 2, 2}})
    for (int64_t worker = 0; worker < workers; ++worker)
      run_case(dist::str_cat("input/batch_sizes_for_worker(", size, ", ", workers, ", ", replicas,
                             ", ", worker, ")"),
               [&, size = size, workers = workers, replicas = replicas] {
                 const auto sizes =
                     dist::data::batch_sizes_for_worker(size, workers, replicas, worker);
                 return rows({sizes.begin(), sizes.end()});
               });
  const dist::InputContext context(2, 1, 4);
  for (int64_t size : {8, 6})
    run_case(dist::str_cat("input/get_per_replica_batch_size(", size, ")"),
             [&] { return context.get_per_replica_batch_size(size); });
}

namespace {

void partitioner_case(const std::string& name, const dist::Partitioner& partitioner) {
  const std::vector<dist::Shape> shapes{{1},     {3},    {10},      {16},     {1, 10},
                                        {10, 1}, {7, 3}, {100, 10}, {1000, 1}};
  const std::vector<std::pair<const char*, dist::DType>> dtypes{{"float32", dist::DType::Float32},
                                                                {"int64", dist::DType::Int64},
                                                                {"uint8", dist::DType::UInt8}};
  for (const auto& [dtype_name, dtype] : dtypes)
    run_case(dist::str_cat("partitioners/", name, "/", dtype_name), [&, dtype = dtype] {
      std::vector<double> shards;
      for (const dist::Shape& shape : shapes)
        shards.push_back(double(partitioner(shape, dtype).at(0)));
      return rows(shards);
    });
}

}  // namespace

void partitioner_cases() {
  using namespace dist::partitioners;
  const auto as_function = [](const auto& p) {
    return [p](const dist::Shape& shape, dist::DType dtype) { return p(shape, dtype); };
  };
  for (int64_t n : {1, 2, 4, 7})
    partitioner_case(dist::str_cat("fixed(", n, ")"), as_function(FixedShardsPartitioner(n)));
  for (int64_t size : {1, 16, 64, 1024})
    for (int64_t most : {2, 10, 100})
      partitioner_case(dist::str_cat("min_size(", size, ", ", most, ")"),
                       as_function(MinSizePartitioner(size, most)));
  for (int64_t size : {8, 16, 64, 256, 1024})
    partitioner_case(dist::str_cat("max_size(", size, ")"), as_function(MaxSizePartitioner(size)));
  for (int64_t size : {8, 16, 64, 256, 1024})
    partitioner_case(dist::str_cat("max_size(", size, ", 3)"),
                     as_function(MaxSizePartitioner(size, 3)));
}

}  // namespace comparison
