// What TensorFlow 2.21 gives with one worker in the reader's process and one elsewhere.
#include <distribute/testing/process_cluster.hpp>

#include <tests/data_service/data_service_support.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>

using namespace service_test;
using data::service::from_dataset_id;
using data::service::TargetWorkers;
using Policy = ShardingPolicy;

namespace {

ReadOptions from_workers(const std::string& service, Policy mode, TargetWorkers target,
                         const std::string& id = "ten") {
  ReadOptions options = reading(service, id, mode);
  options.target_workers = target;
  return options;
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(worker_elsewhere) {
  register_all();
  WorkerServer worker({.dispatcher_address = task.argument(), .cluster = quick_options()});
  worker.join();
}

TEST_CASE("target_workers says whether elements come from workers of other processes",
          "[data_service][multiproc]") {
  const auto dispatcher = start_dispatcher();
  testing::ProcessCluster elsewhere(
      {.workers = 1, .function = "worker_elsewhere", .argument = dispatcher->target()});
  testing::wait_until([&] { return dispatcher->num_workers() == 1; }, "the worker elsewhere");
  const auto read = [&](Policy mode, TargetWorkers target) {
    return sorted(numbers(from_dataset_id(from_workers(dispatcher->target(), mode, target))));
  };
  check_throws<InvalidArgumentError>([&] { read(Policy::Off, TargetWorkers::Local); },
                                     "reads from workers of this process, which has none");
  auto worker = start_worker(dispatcher->target());
  const std::vector<int64_t> twice{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9};
  CHECK(read(Policy::Off, TargetWorkers::Auto) == twice);
  CHECK(read(Policy::Off, TargetWorkers::Any) == twice);
  CHECK(read(Policy::Off, TargetWorkers::Local) == up_to(10));
  for (auto target : {TargetWorkers::Auto, TargetWorkers::Any, TargetWorkers::Local})
    CHECK(read(Policy::Dynamic, target) == up_to(10));
  worker.reset();
  check_throws<InvalidArgumentError>([&] { read(Policy::Dynamic, TargetWorkers::Local); },
                                     "make a data::service::WorkerServer first");
  elsewhere.kill({"worker", 0});
  elsewhere.wait();
}

TEST_CASE("a reader of local workers leaves the others' elements to other readers",
          "[data_service]") {
  const auto dispatcher = start_dispatcher();
  const auto worker = start_worker(dispatcher->target());
  auto shared = from_workers(dispatcher->target(), Policy::Off, TargetWorkers::Local);
  shared.job_name = "shared";
  CHECK(numbers(from_dataset_id(shared)) == up_to(10));
  CHECK(numbers(from_dataset_id(shared)) == up_to(10));  // a reader on another host, later
  shared.processing_mode = Policy::Dynamic;
  shared.job_name = "shared source";
  CHECK(numbers(from_dataset_id(shared)) == up_to(10));
  CHECK(numbers(from_dataset_id(shared)).empty());
}

TEST_CASE("readers of a job have the same target_workers", "[data_service]") {
  const auto dispatcher = start_dispatcher();
  const auto worker = start_worker(dispatcher->target());
  auto shared = from_workers(dispatcher->target(), Policy::Off, TargetWorkers::Local, "many");
  shared.job_name = "shared";
  auto first = from_dataset_id(shared).iterator();
  first.next();
  shared.target_workers = TargetWorkers::Any;
  check_throws<InvalidArgumentError>([&] { from_dataset_id(shared).iterator().next(); },
                                     "the job \"shared\" has target_workers = Local, not Any");
  shared.target_workers = TargetWorkers::Local;
  shared.consumer_index = 0;
  shared.num_consumers = 1;
  check_throws<InvalidArgumentError>([&] { from_dataset_id(shared); },
                                     "target_workers cannot be Local");
}
