#pragma once
/// What the tests of the data service share: datasets, and servers with short limits.

#include <distribute/data_service/data_service.hpp>
#include <distribute/data_service/servers.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/support/catch.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace service_test {

using namespace distribute;
using data::Batch;
using data::Dataset;
using data::service::DispatcherConfig;
using data::service::DispatchServer;
using data::service::ReadOptions;
using data::service::ShardingPolicy;
using data::service::WorkerConfig;
using data::service::WorkerServer;

inline int64_t number_of(const Batch& element) { return element.x.item<int64_t>(); }

/// Datasets that this program and the processes it starts have registered.
inline Dataset ten() { return Dataset::range(10); }
inline Dataset fails_at_five() {
  return ten().map(
      [](const Batch& element) {
        if (number_of(element) == 5) throw DataLossError("five");
        return element;
      },
      {.output_spec = ten().element_spec()});
}
/// Elements that processes of this program have made of "counted".
inline std::atomic<int64_t>& counted_elements() {
  static std::atomic<int64_t> count{0};
  return count;
}
inline Dataset many() { return Dataset::range(20000); }

inline void register_all() {
  static const bool once = [] {
    using data::service::register_dataset;
    register_dataset("ten", ten);
    register_dataset("two passes", [] { return ten().repeat(2); });
    register_dataset("batches", [] { return ten().batch(3); });
    register_dataset("shuffled", [] { return Dataset::range(1000).shuffle(100); });
    register_dataset("many", many);
    register_dataset("endless", [] { return ten().repeat(); });
    register_dataset("long", [] { return Dataset::range(10'000'000).repeat(); });
    register_dataset("counted", [] {
      return Dataset::range(1'000'000).repeat().map(
          [](const Batch& element) {
            ++counted_elements();
            return element;
          },
          {.output_spec = ten().element_spec()});
    });
    register_dataset("endless failures", [] { return fails_at_five().repeat(); });
    register_dataset("zeros",
                     [] { return Dataset::from_tensors(zeros({1000}, DType::Int64)).repeat(20); });
    register_dataset("fails at five", fails_at_five);
    register_dataset("pairs", [] { return Dataset::zip({ten(), ten()}); });
    register_dataset("hinted", [] {
      return Dataset::range(9)
          .shard(data::kShardHint, data::kShardHint)
          .map([](const Batch& element) { return element; });
    });
    register_dataset("generated", [] {
      return Dataset::from_generator([] { return [] { return std::optional<Batch>(); }; },
                                     ten().element_spec());
    });
    return true;
  }();
  (void)once;
}

inline std::unique_ptr<DispatchServer> start_dispatcher(DispatcherConfig config = {},
                                                        double lost_after = 20) {
  register_all();
  config.cluster = quick_options();
  config.cluster.lost_after = lost_after;
  config.worker_timeout_ms = 2000;
  return std::make_unique<DispatchServer>(config);
}

inline std::unique_ptr<WorkerServer> start_worker(const std::string& dispatcher, int port = 0,
                                                  int64_t cache_bytes = 1 << 20) {
  return std::make_unique<WorkerServer>(WorkerConfig{.dispatcher_address = dispatcher,
                                                     .port = port,
                                                     .dispatcher_timeout_ms = 20000,
                                                     .cross_trainer_cache_size_bytes = cache_bytes,
                                                     .cluster = quick_options()});
}

inline ReadOptions reading(const std::string& service, const std::string& id, ShardingPolicy mode) {
  return {
      .processing_mode = mode, .service = service, .dataset_id = id, .cluster = quick_options()};
}

inline std::vector<int64_t> numbers(const Dataset& dataset) {
  std::vector<int64_t> all;
  for (const Batch& element : dataset) all.push_back(number_of(element));
  return all;
}
inline std::vector<int64_t> sorted(std::vector<int64_t> all) {
  std::sort(all.begin(), all.end());
  return all;
}
inline std::vector<int64_t> up_to(int64_t count) { return numbers(Dataset::range(count)); }

}  // namespace service_test
