#include <distribute/data/files.hpp>
#include <distribute/data_service/detail/dispatcher_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/data_service/data_service_support.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

using namespace service_test;
using Catch::Matchers::Contains;
using data::service::distribute;
using data::service::from_dataset_id;
using Policy = ShardingPolicy;

namespace {

struct Service {
  explicit Service(int count, DispatcherConfig config = {})
      : dispatcher(start_dispatcher(std::move(config))), target(dispatcher->target()) {
    for (int i = 0; i < count; ++i) workers.push_back(start_worker(target));
  }
  Dataset read(const std::string& id, Policy mode) const {
    return from_dataset_id(reading(target, id, mode));
  }
  std::unique_ptr<DispatchServer> dispatcher;
  std::string target;
  std::vector<std::unique_ptr<WorkerServer>> workers;
};

}  // namespace

// TensorFlow 2.21 with two workers: Off [0, 0, 1, 1, ... 9, 9]; Dynamic [0 ... 9], and again in a
// second pass; repeat(2) with Dynamic each element twice.
TEST_CASE("Off gives all of every worker, Dynamic each element once", "[data_service]") {
  const Service service(2);
  CHECK(service.dispatcher->num_workers() == 2);
  CHECK(sorted(numbers(service.read("ten", Policy::Off))) ==
        std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9});
  const Dataset once = service.read("ten", Policy::Dynamic);
  for (int pass = 0; pass < 3; ++pass) CHECK(sorted(numbers(once)) == up_to(10));
  CHECK(sorted(numbers(service.read("two passes", Policy::Dynamic))) ==
        sorted(numbers(ten().repeat(2))));
  CHECK(sorted(numbers(service.read("shuffled", Policy::Dynamic))) == up_to(1000));
}

TEST_CASE("a dataset of a service has the spec of the pipeline and no known size",
          "[data_service]") {
  const Service service(1);
  const Dataset batches =
      ten().batch(3).apply(distribute(reading(service.target, "batches", Policy::Dynamic)));
  CHECK(data::to_string(batches.element_spec()) == "([-1] int64)");
  CHECK(batches.cardinality() == data::kUnknownCardinality);
  CHECK(service.read("endless", Policy::Off).cardinality() == data::kInfiniteCardinality);
  int64_t sum = 0, count = 0;
  for (const Batch& batch : batches) {
    count += data::batch_size(batch);
    for (int64_t i = 0; i < data::batch_size(batch); ++i) sum += batch.x.data<int64_t>()[i];
  }
  CHECK(count == 10);
  CHECK(sum == 45);
}

TEST_CASE("finding a shape takes no element from a job", "[data_service]") {
  const Service service(1);
  ReadOptions options = reading(service.target, "ten", Policy::Dynamic);
  options.job_name = "shared";
  const Dataset shared = from_dataset_id(options).map([](const Batch& element) { return element; });
  CHECK(data::to_string(shared.element_spec()) == "([] int64)");
  CHECK(sorted(numbers(shared)) == up_to(10));
}

TEST_CASE("an endless dataset ends when its reader does", "[data_service]") {
  const Service service(1);
  const Dataset endless = service.read("endless", Policy::Off);
  CHECK(numbers(endless.take(25)).size() == 25);
  CHECK(numbers(endless.take(25)) == numbers(ten().repeat().take(25)));
}

TEST_CASE("readers of one job share its elements, and a late one gets nothing", "[data_service]") {
  const Service service(2);
  ReadOptions options = reading(service.target, "many", Policy::Dynamic);
  options.job_name = "shared";
  std::vector<std::vector<int64_t>> parts(2);
  const std::vector<Dataset> readers = {from_dataset_id(options), from_dataset_id(options)};
  std::vector<data::Iterator> open;
  for (const Dataset& reader : readers) open.push_back(reader.iterator());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      while (auto element = open[i].get_next_as_optional()) parts[i].push_back(number_of(*element));
    });
  for (auto& thread : threads) thread.join();
  CHECK_FALSE(parts[0].empty());
  CHECK_FALSE(parts[1].empty());
  parts[0].insert(parts[0].end(), parts[1].begin(), parts[1].end());
  CHECK(sorted(parts[0]) == up_to(20000));
  CHECK(numbers(from_dataset_id(options)).empty());
  options.processing_mode = Policy::Off;
  check_throws<InvalidArgumentError>([&] { numbers(from_dataset_id(options)); },
                                     "has ShardingPolicy::Dynamic of \"many\", not Off");
}

TEST_CASE("static policies give each listed worker its share", "[data_service]") {
  const Service service(2, {.worker_addresses = {"127.0.0.1", "127.0.0.1"}});
  for (const auto mode : {Policy::Data, Policy::FileOrData})
    CHECK(sorted(numbers(service.read("ten", mode))) == up_to(10));
  CHECK(sorted(numbers(service.read("hinted", Policy::Hint))) == up_to(9));
  // TensorFlow fails, too, and has no other word for it: the source reads no files.
  check_throws<NotFoundError>([&] { numbers(service.read("ten", Policy::File)); },
                              "autoshard by File");
}

TEST_CASE("files are splits and shards, also when a worker ends", "[data_service]") {
  const TemporaryDirectory directory;
  std::vector<std::string> files;
  for (int file = 0; file < 7; ++file) {
    files.push_back(directory / str_cat("lines-", file));
    std::ofstream lines(files.back());
    for (int line = 0; line < 500; ++line) lines << file * 500 + line << '\n';
  }
  const auto make = [files] {
    return data::text_line_dataset(files).map(
        [](const Batch& line) {
          const std::string text(data::bytes_of(line.x));
          return Batch{.x = Tensor({}, std::vector<int64_t>{std::stoll(text)})};
        },
        {.output_spec = ten().element_spec()});
  };
  static int runs = 0;
  const std::string id = str_cat("lines ", runs++);
  data::service::register_dataset(id, make);
  const auto mode = GENERATE(Policy::Dynamic, Policy::File, Policy::FileOrData);
  Service service(2, {.worker_addresses = {"127.0.0.1", "127.0.0.1"}});
  CHECK(sorted(numbers(service.read(id, mode))) == up_to(3500));
  auto elements = service.read(id, mode).iterator();
  std::vector<int64_t> got;
  for (int i = 0; i < 700; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  service.workers[1].reset();
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(3500));
}

TEST_CASE("strategies do not shard the dataset of a named job again", "[data_service]") {
  const Service service(1);
  ReadOptions options = reading(service.target, "ten", Policy::Dynamic);
  const auto policy = [](const Dataset& dataset) {
    return dataset.options().experimental_distribute.auto_shard_policy;
  };
  CHECK_FALSE(policy(from_dataset_id(options)).has_value());
  options.job_name = "shared";
  const Dataset shared = from_dataset_id(options);
  CHECK(policy(shared) == data::AutoShardPolicy::Off);
  const Dataset mine(data::auto_shard(shared.node(), 2, 0, data::AutoShardPolicy::Off));
  CHECK(sorted(numbers(mine)) == up_to(10));
}

// TensorFlow 2.21, one of one consumers, Off, two workers: [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, ...].
TEST_CASE("readers that step together take rounds from the same worker", "[data_service]") {
  Service service(2);
  const auto reader = [&](int64_t index, int64_t count, const std::string& job) {
    ReadOptions options = reading(service.target, "endless", Policy::Off);
    options.job_name = job;
    options.consumer_index = index;
    options.num_consumers = count;
    return from_dataset_id(options);
  };
  CHECK(numbers(reader(0, 1, "alone").take(10)) ==
        std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4});
  auto first = reader(0, 2, "pair").iterator(), second = reader(1, 2, "pair").iterator();
  std::vector<std::pair<int64_t, int64_t>> got, wanted;
  for (int64_t step = 0; step < 400; ++step) {
    if (step == 100) service.workers[0].reset();  // its rounds go on elsewhere
    got.emplace_back(number_of(first.next()), number_of(second.next()));
    const int64_t round = step / 2;
    wanted.emplace_back((2 * round) % 10, (2 * round + 1) % 10);
  }
  CHECK(got == wanted);
  auto again = reader(1, 2, "pair").iterator();
  check_throws<AlreadyExistsError>([&] { again.next(); }, "consumer_index = 1 already");
  second = reader(0, 1, "another").iterator();  // its place is free, but its elements are gone
  testing::wait_until(
      [&] {
        return error_of([&] { again.next(); }).find("begin a pass together") != std::string::npos;
      },
      "the free place");
}

TEST_CASE("readers that cannot step together are refused", "[data_service]") {
  const Service service(1);
  ReadOptions options = reading(service.target, "ten", Policy::Off);
  options.consumer_index = 0;
  check_throws<InvalidArgumentError>([&] { from_dataset_id(options); }, "give both");
  options.num_consumers = 1;
  check_throws<InvalidArgumentError>([&] { from_dataset_id(options); }, "need a job_name");
  options.job_name = "together";
  check_throws<FailedPreconditionError>([&] { numbers(from_dataset_id(options)); },
                                        "\"ten\" has 10 elements; call repeat() at its end");
  options.consumer_index = 1;
  check_throws<InvalidArgumentError>([&] { from_dataset_id(options); },
                                     "[0, num_consumers = 1), got 1");
}

TEST_CASE("what Dynamic and static policies cannot do is refused", "[data_service]") {
  const Service service(1);
  const auto refused = [&](const std::string& id, Policy mode) {
    return error_of([&] { numbers(service.read(id, mode)); });
  };
  CHECK_THAT(refused("pairs", Policy::Dynamic), Contains("it has 2 sources"));
  CHECK_THAT(refused("generated", Policy::Dynamic),
             Contains("its source, a Generator, has neither files nor a known number of elements"));
  CHECK_THAT(refused("ten", Policy::Data), Contains("needs DispatcherConfig::worker_addresses"));
}

TEST_CASE("bad options of a reader are refused", "[data_service]") {
  const Service service(1);
  ReadOptions options = reading(service.target, "ten", Policy::Off);
  options.max_outstanding_requests = 0;
  check_throws<InvalidArgumentError>([&] { from_dataset_id(options); },
                                     "must be positive or -1, got 0");
  check_throws<InvalidArgumentError>([&] { from_dataset_id(reading("", "ten", Policy::Off)); },
                                     "\"host:port\"");
  ReadOptions unknown = reading(service.target, "eleven", Policy::Off);
  unknown.cluster.startup_timeout = 0.2;
  check_throws<NotFoundError>([&] { from_dataset_id(unknown); },
                              "no worker has registered the dataset \"eleven\"; registered: ");
  check_throws<InvalidArgumentError>([&] { start_dispatcher({.fault_tolerant_mode = true}); },
                                     "fault_tolerant_mode needs a work_dir");
}

TEST_CASE("a dispatcher that is not there is named at the deadline", "[data_service]") {
  ReadOptions options = reading("127.0.0.1:1", "ten", Policy::Off);
  options.cluster.startup_timeout = 0.3;
  check_throws<DeadlineExceededError>([&] { from_dataset_id(options); },
                                      "in vain for data_dispatcher 0 (127.0.0.1:1)");
  register_all();
  WorkerConfig config{.dispatcher_address = "127.0.0.1:1", .cluster = quick_options()};
  config.dispatcher_timeout_ms = 300;
  check_throws<DeadlineExceededError>([&] { WorkerServer worker(config); }, "127.0.0.1:1");
}

TEST_CASE("other pipelines under one name are refused with the first difference",
          "[data_service]") {
  const Service service(1);
  const auto apply = [&](const Dataset& mine) {
    return error_of([&] { mine.apply(distribute(reading(service.target, "ten", Policy::Off))); });
  };
  CHECK_THAT(apply(ten().batch(2)), Contains("has elements ([] int64), this program has ([-1]"));
  CHECK_THAT(apply(Dataset::range(11)),
             Contains("has TensorSlice 10, this program has TensorSlice 11"));
  CHECK_THAT(apply(Dataset::range(1, 11)), Contains("this program has 10 rows of"));
  CHECK_THAT(apply(ten().shuffle(3)), Contains("this program has Shuffle 3"));
}

// TensorFlow: "Failed to get element from worker localhost:44055: ... boom".
TEST_CASE("an error of the pipeline names the worker, and the next call goes on behind it",
          "[data_service]") {
  const Service service(1);
  auto elements = service.read("fails at five", Policy::Dynamic).iterator();
  std::vector<int64_t> got;
  std::string error;
  for (;;) try {
      auto element = elements.get_next_as_optional();
      if (!element) break;
      got.push_back(number_of(*element));
    } catch (const DataLossError& thrown) {
      error += thrown.what();
    }
  CHECK(got == std::vector<int64_t>{0, 1, 2, 3, 4, 6, 7, 8, 9});
  CHECK(error == "data_worker 0 (" + service.workers[0]->address() + "): five");
}

TEST_CASE("a reader waits for the first worker, and one that joins late takes part",
          "[data_service]") {
  const Service first(1);  // knows the datasets
  const Dataset dataset = first.read("many", Policy::Dynamic);
  auto elements = dataset.iterator();
  std::vector<int64_t> got;
  for (int i = 0; i < 100; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  const auto late = start_worker(first.target);
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(20000));
}

TEST_CASE("a worker that ends costs no element and repeats none", "[data_service]") {
  const auto mode = GENERATE(Policy::Dynamic, Policy::Data);
  const std::string id = GENERATE("many", "shuffled");
  Service service(2, {.worker_addresses = {"127.0.0.1", "127.0.0.1"}});
  auto elements = service.read(id, mode).iterator();
  std::vector<int64_t> got;
  for (int i = 0; i < 300; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  service.workers[0].reset();
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(id == "many" ? 20000 : 1000));
}

TEST_CASE("in Off the rest of a worker that ends is lost", "[data_service]") {
  Service service(2);
  auto elements = service.read("many", Policy::Off).iterator();
  std::vector<int64_t> got;
  for (int i = 0; i < 300; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  service.workers[0].reset();
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(got.size() >= 20000);
  CHECK(got.size() < 40000);
  const std::set<int64_t> different(got.begin(), got.end());
  CHECK(different.size() == 20000);
}

TEST_CASE("all workers may go when others come", "[data_service]") {
  Service service(1);
  auto elements = service.read("many", Policy::Dynamic).iterator();
  std::vector<int64_t> got;
  for (int i = 0; i < 300; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  service.workers[0].reset();
  service.workers[0] = start_worker(service.target);
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(20000));
}

TEST_CASE("a dispatcher with a journal goes on after a restart", "[data_service]") {
  const TemporaryDirectory directory;
  DispatcherConfig config{.work_dir = directory.path() + "/journal", .fault_tolerant_mode = true};
  Service service(2, config);
  auto elements = service.read("many", Policy::Dynamic).iterator();
  std::vector<int64_t> got;
  for (int i = 0; i < 300; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  config.port = std::stoi(service.target.substr(service.target.rfind(':') + 1));
  service.dispatcher.reset();
  const bool worker_too = GENERATE(false, true);
  if (worker_too) service.workers[1].reset();
  service.dispatcher = start_dispatcher(config);
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(20000));
}

TEST_CASE("without a journal a restart ends the pass with one line", "[data_service]") {
  DispatcherConfig config;
  Service service(1);
  auto elements = service.read("many", Policy::Dynamic).iterator();
  elements.get_next_as_optional();
  config.port = std::stoi(service.target.substr(service.target.rfind(':') + 1));
  service.dispatcher.reset();
  service.dispatcher = start_dispatcher(config);
  const std::string error = error_of([&] {
    while (elements.get_next_as_optional()) {
    }
  });
  CHECK_THAT(error, Contains("started again without its journal"));
}

TEST_CASE("what is waited for is said in lines", "[data_service]") {
  const auto dispatcher = start_dispatcher();
  { const auto worker = start_worker(dispatcher->target()); }  // the dispatcher knows its datasets
  testing::wait_until([&] { return dispatcher->num_workers() == 0; }, "the worker's end");
  LogLines lines;
  ReadOptions options = reading(dispatcher->target(), "ten", Policy::Dynamic);
  options.cluster.log = lines.sink();
  auto elements = from_dataset_id(options).iterator();
  std::thread late([&] {
    testing::wait_until([&] { return lines.text().find("\"ten\"") != std::string::npos; },
                        "the line");
    const auto worker = start_worker(dispatcher->target());
    testing::wait_until([&] { return lines.text().find("done") != std::string::npos; }, "the end");
  });
  std::vector<int64_t> got;
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  lines.sink()("done");
  late.join();
  CHECK(got == up_to(10));
  CHECK_THAT(lines.text(), Contains("is waiting for a worker"));
}

TEST_CASE("a worker's main takes flags and says what is wrong", "[data_service]") {
  const auto run = [](std::vector<std::string> words) {
    words.insert(words.begin(), "pipelines");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return data::service::worker_main(int(argv.size()), argv.data());
  };
  CHECK(run({}) == 2);
  CHECK(run({"--dispatcher"}) == 2);
  CHECK(run({"--dispatcher", "127.0.0.1:1", "--colour", "red"}) == 2);
  CHECK(run({"--dispatcher", "nowhere"}) == 1);
}

TEST_CASE("an entry that was cut is left out of the journal, a damaged one is refused",
          "[data_service]") {
  using namespace data::service_internal;
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/journal";
  {
    DispatcherState state;
    Journal journal(directory.path(), state);
    journal.write({.kind = EntryKind::Worker, .number = 7, .worker = 0, .name = "a:1"});
    journal.write({.kind = EntryKind::Worker, .number = 8, .worker = 1, .name = "b:1"});
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  DispatcherState state;
  { const Journal journal(directory.path(), state); }
  CHECK(state.workers.size() == 1);
  CHECK(state.workers.at(0).address == "a:1");
  std::fstream(path, std::ios::in | std::ios::out).seekp(20) << "X";
  check_throws<DataLossError>([&] { Journal(directory.path(), state); }, "wrong checksum");
}

TEST_CASE("intervals join and are found", "[data_service]") {
  data::service_internal::Intervals numbers;
  for (const int64_t number : {0, 1, 5, 3, 2, 9}) numbers.add(number);
  CHECK(numbers.limits() == std::vector<int64_t>{0, 4, 5, 6, 9, 10});
  numbers.add(3, 6);
  CHECK(numbers.limits() == std::vector<int64_t>{0, 6, 9, 10});
  CHECK(numbers.contains(5));
  CHECK_FALSE(numbers.contains(6));
  CHECK(numbers.count() == 7);
}

DISTRIBUTE_CLUSTER_MAIN(data_worker) {
  register_all();
  WorkerServer worker({.dispatcher_address = task.argument(), .cluster = quick_options()});
  worker.join();
}

TEST_CASE("a process that is killed costs no element and repeats none",
          "[data_service][multiproc]") {
  const auto dispatcher = start_dispatcher();
  testing::ProcessCluster processes(
      {.workers = 3, .function = "data_worker", .argument = dispatcher->target()});
  auto elements =
      from_dataset_id(reading(dispatcher->target(), "many", Policy::Dynamic)).iterator();
  std::vector<int64_t> got;
  const auto take = [&](int count) {
    for (int i = 0; i < count; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  };
  testing::wait_until([&] { return dispatcher->num_workers() == 3; }, "the workers");
  take(500);
  processes.kill({"worker", 0});
  take(500);
  processes.kill({"worker", 1});
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(20000));
  processes.kill({"worker", 2});
  processes.wait();
}
