// Sequences are those of TensorFlow 2.21 with one worker and tf.data.experimental.service.
#include <distribute/data_service/detail/service_metrics.hpp>
#include <distribute/io/compression.hpp>

#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/data_service/data_service_support.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>

#include <set>

using namespace service_test;
using data::service::from_dataset_id;
using data::service_internal::dispatcher_metrics;
using data::service_internal::worker_metrics;
using Policy = ShardingPolicy;

namespace {

ReadOptions trainer(const std::string& service, const std::string& id, const std::string& name,
                    Policy mode = Policy::Off) {
  ReadOptions options = reading(service, id, mode);
  options.job_name = "shared";
  options.cross_trainer_cache = data::service::CrossTrainerCache{name};
  return options;
}

std::vector<int64_t> take(data::Iterator& elements, int count) {
  std::vector<int64_t> got;
  for (int i = 0; i < count; ++i) got.push_back(number_of(elements.next()));
  return got;
}

std::vector<int64_t> from(int64_t begin, int64_t count) {
  return numbers(Dataset::range(begin, begin + count));
}

}  // namespace

TEST_CASE("each trainer reads a cache at its own position", "[data_service][cross_trainer]") {
  const auto dispatcher = start_dispatcher();
  const std::string target = dispatcher->target();
  const auto worker = start_worker(target);
  auto a = from_dataset_id(trainer(target, "long", "A")).iterator();
  auto b = from_dataset_id(trainer(target, "long", "B")).iterator();
  CHECK(take(a, 10) == from(0, 10));
  CHECK(take(b, 10) == from(0, 10));
  CHECK(take(a, 3000) == from(10, 3000));
  CHECK(take(b, 10) == from(10, 10));
  // TensorFlow: a second reader of trainer A had 3013 to 3022; a late trainer D 0 to 9.
  auto second = from_dataset_id(trainer(target, "long", "A")).iterator();
  const auto next = take(second, 10);
  CHECK(next == from(next[0], 10));
  CHECK(next[0] >= 3010);
  auto d = from_dataset_id(trainer(target, "long", "D")).iterator();
  CHECK(take(d, 10) == from(0, 10));
}

TEST_CASE("a trainer that is slower than the cache is large misses elements",
          "[data_service][cross_trainer]") {
  const auto dispatcher = start_dispatcher();
  const std::string target = dispatcher->target();
  const auto worker = start_worker(target, 0, 100 * int64_t(sizeof(int64_t)));
  auto slow = from_dataset_id(trainer(target, "long", "slow")).iterator();
  auto fast = from_dataset_id(trainer(target, "long", "fast")).iterator();
  CHECK(take(slow, 10) == from(0, 10));
  const int64_t skipped = worker_metrics().skipped.value();
  const auto first = take(fast, 1)[0];  // the oldest of the cache
  CHECK(take(fast, 5000) == from(first + 1, 5000));
  const auto rest = take(slow, 60);
  CHECK(std::is_sorted(rest.begin(), rest.end()));
  CHECK(std::set<int64_t>(rest.begin(), rest.end()).size() == 60);
  CHECK(rest.back() > 4000);
  CHECK(worker_metrics().skipped.value() > skipped + 3000);
}

TEST_CASE("trainers that share a cache share the work", "[data_service][cross_trainer]") {
  const auto mode = GENERATE(Policy::Off, Policy::Dynamic);
  const auto dispatcher = start_dispatcher();
  const std::string target = dispatcher->target();
  const auto worker = start_worker(target);
  const int64_t before = counted_elements();
  auto a = from_dataset_id(trainer(target, "counted", "A", mode)).iterator();
  auto b = from_dataset_id(trainer(target, "counted", "B", mode)).iterator();
  for (int i = 0; i < 20; ++i) {
    take(a, 100);
    take(b, 100);
  }
  const int64_t made = counted_elements() - before;
  CHECK(made >= 2000);
  CHECK(made < 2100);  // 4000 without a cache; readers ask for a few elements in advance
}

TEST_CASE("trainers go on when one of two workers is lost", "[data_service][cross_trainer]") {
  const auto mode = GENERATE(Policy::Off, Policy::Dynamic, Policy::Data);
  const auto dispatcher = start_dispatcher({.worker_addresses = {"127.0.0.1", "127.0.0.1"}});
  const std::string target = dispatcher->target();
  auto first = start_worker(target), second = start_worker(target);
  auto a = from_dataset_id(trainer(target, "counted", "A", mode)).iterator();
  auto b = from_dataset_id(trainer(target, "counted", "B", mode)).iterator();
  take(a, 500);
  take(b, 100);
  first.reset();
  CHECK(take(a, 500).size() == 500);
  CHECK(take(b, 500).size() == 500);
}

TEST_CASE("an error of the pipeline comes to each trainer", "[data_service][cross_trainer]") {
  const auto dispatcher = start_dispatcher();
  const auto worker = start_worker(dispatcher->target());
  for (const char* name : {"A", "B"}) {
    auto elements =
        from_dataset_id(trainer(dispatcher->target(), "endless failures", name)).iterator();
    CHECK(take(elements, 5) == from(0, 5));
    check_throws<DataLossError>([&] { elements.next(); }, "five");
    CHECK(take(elements, 4) == from(6, 4));
  }
}

// TensorFlow refuses the same: "requires a non-empty trainer ID", "requires named jobs", "requires
// the input dataset to be infinite", "does not support coordinated reads".
TEST_CASE("what a cache cannot be used for is refused", "[data_service][cross_trainer]") {
  const auto dispatcher = start_dispatcher();
  const std::string target = dispatcher->target();
  const auto worker = start_worker(target);
  const auto refused = [](const ReadOptions& options, const char* words) {
    check_throws<InvalidArgumentError>([&] { numbers(from_dataset_id(options)); }, words);
  };
  refused(trainer(target, "long", ""), "needs a trainer_id");
  refused(trainer(target, "ten", "A"), "\"ten\" is none; call repeat() at its end");
  ReadOptions options = trainer(target, "long", "A");
  options.job_name.clear();
  refused(options, "needs a job_name");
  options.job_name = "other";
  options.consumer_index = 0, options.num_consumers = 1;
  refused(options, "readers that step together cannot");
  auto a = from_dataset_id(trainer(target, "long", "A")).iterator();
  take(a, 1);
  options = reading(target, "long", Policy::Off);
  options.job_name = "shared";
  refused(options, "has a cross_trainer_cache; set it in all of its readers");
}

TEST_CASE("elements are compressed where a reader asks for it", "[data_service]") {
  const auto dispatcher = start_dispatcher();
  const auto worker = start_worker(dispatcher->target());
  const auto bytes_of = [&](io::Compression compression) {
    ReadOptions options = reading(dispatcher->target(), "zeros", Policy::Off);
    options.compression = compression;
    const int64_t before = worker_metrics().bytes.value();
    int64_t elements = 0, sum = 0;
    for (const Batch& element : from_dataset_id(options)) {
      ++elements;
      sum += element.x.num_elements() + element.x.data<int64_t>()[999];
    }
    CHECK(elements == 20);
    CHECK(sum == 20 * 1000);
    return worker_metrics().bytes.value() - before;
  };
  CHECK(bytes_of(io::Compression::None) > 20 * 8000);
  CHECK(bytes_of(io::Compression::Auto) > 20 * 8000);
  CHECK(bytes_of(io::Compression::Zlib) < 20 * 800);
  check_throws<InvalidArgumentError>([&] { bytes_of(io::Compression::Gzip); },
                                     "compression is Auto, None or Zlib, not Gzip");
}

TEST_CASE("bytes are compressed in memory, and damaged ones are refused", "[data_service][io]") {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += char('a' + i % 7);
  const std::string packed = io::compress_zlib(bytes);
  CHECK(packed.size() < bytes.size() / 10);
  CHECK(io::decompress_zlib(packed, "test").value() == bytes);
  CHECK(io::decompress_zlib(io::compress_zlib(""), "test").value().empty());
  for (const std::string& bad :
       {packed.substr(0, packed.size() / 2), std::string("no zlib"), std::string()})
    CHECK(io::decompress_zlib(bad, "test").status().code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("a reader whose job has another token gives that of the service", "[data_service]") {
  const char* const variable = "DISTRIBUTE_DATA_SERVICE_TOKEN";
  ::setenv(variable, "the token of a data service", 1);
  const ClusterOptions own = data::service::reader_cluster_options();
  ::setenv(variable, "short", 1);
  const std::string error = error_of([] { data::service::reader_cluster_options(); });
  ::unsetenv(variable);
  CHECK(own.job_token == "the token of a data service");
  CHECK_THAT(error, Catch::Matchers::Contains(variable));
  CHECK(data::service::reader_cluster_options().job_token ==
        ClusterOptions::from_environment().job_token);
}

TEST_CASE("a service counts elements, readers and workers that are lost", "[data_service]") {
  const auto dispatcher = start_dispatcher();
  const std::string target = dispatcher->target();
  auto worker = start_worker(target);
  const auto& metrics = dispatcher_metrics();
  const auto& made = worker_metrics().elements;
  const int64_t elements = made.value(), lost = metrics.lost_workers.value();
  CHECK(numbers(from_dataset_id(reading(target, "ten", Policy::Off))).size() == 10);
  CHECK(made.value() == elements + 10);
  {
    auto open = from_dataset_id(reading(target, "endless", Policy::Off)).iterator();
    open.next();
    testing::wait_until([&] { return metrics.clients.value() == 1; }, "the reader");
    testing::wait_until([&] { return metrics.workers.value() == 1; }, "the worker");
  }
  testing::wait_until([&] { return metrics.clients.value() == 0; }, "the reader's end");
  worker.reset();
  testing::wait_until([&] { return metrics.lost_workers.value() == lost + 1; }, "the loss");
  testing::wait_until([&] { return metrics.workers.value() == 0; }, "the worker's end");
}

DISTRIBUTE_CLUSTER_MAIN(shared_trainer) {
  auto elements =
      from_dataset_id(trainer(task.argument(), "long", str_cat("trainer ", task.index())))
          .iterator();
  for (int64_t i = 0; i < 2000; ++i)
    if (number_of(elements.next()) != i) throw InternalError("another element");
  task.set_result("2000 in order");
  task.barrier();
  while (task.index() == 1) elements.next();  // until it is killed
  for (int64_t i = 2000; i < 4000; ++i)
    if (number_of(elements.next()) != i) throw InternalError("another element after the end");
  task.set_result("4000 in order");
}

TEST_CASE("trainers in processes of their own share a cache, and one may be killed",
          "[data_service][cross_trainer][multiproc]") {
  const auto dispatcher = start_dispatcher();
  const auto worker = start_worker(dispatcher->target());
  testing::ProcessCluster trainers(
      {.workers = 2, .function = "shared_trainer", .argument = dispatcher->target()});
  trainers.wait_for_end({"worker", 0});
  trainers.kill({"worker", 1});
  const auto outcomes = trainers.join();
  CHECK(outcomes.at(0).result == "4000 in order");
  CHECK(outcomes.at(1).result == "2000 in order");
  testing::wait_until([] { return dispatcher_metrics().clients.value() == 0; }, "both ends");
}
