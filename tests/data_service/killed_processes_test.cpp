#include <distribute/data/files.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/data_service/data_service_support.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace service_test;
using data::service::from_dataset_id;
using Policy = ShardingPolicy;

namespace {

constexpr int kFiles = 7, kLinesOfFile = 500;

std::vector<std::string> line_files(const std::string& directory) {
  std::vector<std::string> files;
  for (int file = 0; file < kFiles; ++file) files.push_back(str_cat(directory, "/lines-", file));
  return files;
}

void write_lines(const std::string& directory) {
  int64_t number = 0;
  for (const std::string& file : line_files(directory)) {
    std::ofstream lines(file);
    for (int line = 0; line < kLinesOfFile; ++line) lines << number++ << '\n';
  }
}

/// The numbers in the lines of the directory's files.
Dataset line_numbers(const std::string& directory) {
  return data::text_line_dataset(line_files(directory))
      .map(
          [](const Batch& line) {
            const std::string text(data::bytes_of(line.x));
            return Batch{.x = Tensor({}, std::vector<int64_t>{std::stoll(text)})};
          },
          {.output_spec = ten().element_spec()});
}

/// A dispatcher in this process, and three workers in processes of their own.
struct Processes {
  explicit Processes(const std::string& directory, double lost_after = 20)
      : dispatcher(start_dispatcher({.worker_addresses = {"127.0.0.1", "127.0.0.1", "127.0.0.1"}},
                                    lost_after)),
        workers({.workers = 3,
                 .function = "worker_with_lines",
                 .argument = dispatcher->target() + " " + directory}) {
    testing::wait_until([&] { return dispatcher->num_workers() == 3; }, "the workers");
  }
  void end() {
    for (const int worker : {0, 1, 2}) workers.kill({"worker", worker});
    workers.wait();
  }
  std::unique_ptr<DispatchServer> dispatcher;
  testing::ProcessCluster workers;
};

/// A reader that takes some elements at a time.
struct Taking {
  explicit Taking(const ReadOptions& options) : elements(from_dataset_id(options).iterator()) {}
  void take(int count) {
    for (int i = 0; i < count; ++i) got.push_back(number_of(*elements.get_next_as_optional()));
  }
  void take_all() {
    while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  }
  data::Iterator elements;
  std::vector<int64_t> got;
};

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(worker_with_lines) {
  register_all();
  const size_t space = task.argument().find(' ');
  const std::string directory = task.argument().substr(space + 1);
  data::service::register_dataset("lines", [directory] { return line_numbers(directory); });
  WorkerServer worker(
      {.dispatcher_address = task.argument().substr(0, space), .cluster = quick_options()});
  worker.join();
}

TEST_CASE("in static policies a process that is killed costs no element and repeats none",
          "[data_service][multiproc]") {
  const TemporaryDirectory directory;
  write_lines(directory.path());
  const auto mode = GENERATE(Policy::Data, Policy::File, Policy::FileOrData);
  Processes processes(directory.path());
  Taking reader(reading(processes.dispatcher->target(), "lines", mode));
  reader.take(300);
  processes.workers.kill({"worker", 0});
  reader.take(300);
  processes.workers.kill({"worker", 1});
  reader.take_all();
  CHECK(sorted(reader.got) == up_to(kFiles * kLinesOfFile));
  processes.end();
}

TEST_CASE("in Off the rest of a process that is killed is lost, and nothing else",
          "[data_service][multiproc]") {
  const TemporaryDirectory directory;
  Processes processes(directory.path());
  Taking reader(reading(processes.dispatcher->target(), "many", Policy::Off));
  reader.take(500);
  processes.workers.kill({"worker", 0});
  reader.take_all();
  CHECK(reader.got.size() >= 40000);
  CHECK(reader.got.size() < 60000);
  std::vector<int> times(20000);
  for (const int64_t number : reader.got) ++times.at(size_t(number));
  const auto [fewest, most] = std::minmax_element(times.begin(), times.end());
  CHECK(*fewest >= 2);  // those of the two that stay
  CHECK(*most <= 3);    // at most once for each
  processes.end();
}

TEST_CASE("a process that is frozen costs no element and repeats none, also when it goes on",
          "[data_service][multiproc]") {
  const TemporaryDirectory directory;
  const bool goes_on = GENERATE(false, true);
  Processes processes(directory.path(), 3);
  ReadOptions options = reading(processes.dispatcher->target(), "many", Policy::Dynamic);
  options.cluster.lost_after = 3;
  Taking reader(options);
  reader.take(500);
  processes.workers.pause({"worker", 0});
  testing::wait_until([&] { return processes.dispatcher->num_workers() == 2; }, "the loss");
  if (goes_on) processes.workers.resume({"worker", 0});  // with elements that it had made
  reader.take_all();
  CHECK(sorted(reader.got) == up_to(20000));
  processes.end();
}

// Its first start finds a port, which later ones take.
DISTRIBUTE_CLUSTER_MAIN(dispatcher_with_journal) {
  const std::string path = task.argument() + "/target";
  DispatcherConfig config{.work_dir = task.argument() + "/journal", .fault_tolerant_mode = true};
  if (task.restarts() > 0) {
    const std::string target = file_text(path);
    config.port = std::stoi(target.substr(target.rfind(':') + 1));
  }
  const auto dispatcher = start_dispatcher(config);
  std::ofstream(path + ".part") << dispatcher->target();
  std::filesystem::rename(path + ".part", path);
  for (;;) ::pause();
}

TEST_CASE("a dispatcher that is killed and started again costs no element and repeats none",
          "[data_service][multiproc]") {
  const TemporaryDirectory directory;
  testing::ProcessCluster dispatcher(
      {.workers = 1, .function = "dispatcher_with_journal", .argument = directory.path()});
  const std::string path = directory / "target";
  testing::wait_until([&] { return std::filesystem::exists(path); }, "the dispatcher");
  const std::string target = file_text(path);
  register_all();
  std::vector<std::unique_ptr<WorkerServer>> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(start_worker(target));
  Taking reader(reading(target, "many", Policy::Dynamic));
  for (int kill = 0; kill < 3; ++kill) {
    reader.take(300);
    dispatcher.restart({"worker", 0});  // by SIGKILL
  }
  workers.pop_back();  // what it had is made again by the other, as the journal says
  reader.take_all();
  CHECK(sorted(reader.got) == up_to(20000));
  dispatcher.kill({"worker", 0});
  dispatcher.wait();
}
