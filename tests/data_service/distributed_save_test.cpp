/// Datasets that the workers of a data service write into files.

#include <distribute/data/distribute_options.hpp>
#include <distribute/data/files.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/data_service/data_service_support.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/python_script.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

using namespace service_test;
using Catch::Matchers::Contains;
using data::service::distributed_save;
using data::service::SaveOptions;

namespace {

constexpr int64_t kGate = 10000;
constexpr const char* kGateVariable = "DISTRIBUTE_TEST_GATE";

/// Elements from kGate on are not made before the file that the variable names is there.
Dataset gated() {
  return many().map(
      [](const Batch& element) {
        const char* gate = std::getenv(kGateVariable);
        while (number_of(element) >= kGate && !std::filesystem::exists(gate))
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return element;
      },
      {.output_spec = ten().element_spec()});
}

void register_gated() {
  static const bool once = [] {
    register_all();
    data::service::register_dataset("gated", gated);
    data::service::register_dataset("named", [] {
      return Dataset::from_tensor_slices(
          data::TensorMap{{"b", Tensor{1.0f, 2.0f}}, {"a", Tensor{int64_t{3}, int64_t{4}}}});
    });
    data::service::register_dataset("none", [] { return ten().skip(10); });
    return true;
  }();
  (void)once;
}

struct Saving {
  explicit Saving(int count, double lost_after = 20) {
    register_gated();
    setenv(kGateVariable, gate.c_str(), 1);
    config.work_dir = directory / "journal";
    config.fault_tolerant_mode = true;
    dispatcher = start_dispatcher(config, lost_after);
    target = dispatcher->target();
    config.port = std::stoi(target.substr(target.rfind(':') + 1));
    for (int i = 0; i < count; ++i) workers.push_back(start_worker(target));
  }
  ~Saving() { open_gate(); }  // for workers that wait for it
  void save(const std::string& id, SaveOptions options = {.chunk_bytes = 2000}) const {
    options.cluster = quick_options();
    distributed_save(id, path, target, options);
  }
  void restart_dispatcher() {
    dispatcher.reset();
    dispatcher = start_dispatcher(config);
  }
  void open_gate() const { std::ofstream(gate).put(' '); }
  size_t chunks() const {
    const std::filesystem::directory_iterator all(path + "/chunks");
    return size_t(std::distance(begin(all), end(all)));
  }
  bool has(const std::string& name) const { return std::filesystem::exists(path + "/" + name); }
  void wait_for(const std::string& name) const {
    testing::wait_until([&] { return has(name); }, name);
  }
  void wait_for_chunks(size_t count) const {
    testing::wait_until([&] { return chunks() >= count; }, "chunks");
  }
  Dataset load() const { return Dataset::load(path, {.wait_seconds = 60}); }

  TemporaryDirectory directory;
  std::string path = directory / "saved", gate = directory / "gate";
  DispatcherConfig config;
  std::unique_ptr<DispatchServer> dispatcher;
  std::string target;
  std::vector<std::unique_ptr<WorkerServer>> workers;
};

}  // namespace

TEST_CASE("workers save each element once, in chunks", "[data_service][distributed_save]") {
  const Saving saving(3);
  const auto compression = GENERATE(io::Compression::Auto, io::Compression::Gzip);
  saving.save("shuffled", {.compression = compression, .chunk_bytes = 2000});
  const Dataset unfinished = saving.load();
  CHECK(data::to_string(unfinished.element_spec()) == "([] int64)");
  CHECK(sorted(numbers(unfinished)) == up_to(1000));
  saving.wait_for("DONE");
  CHECK(saving.chunks() > 5);
  CHECK_FALSE(saving.has("streams"));
  const Dataset finished = saving.load();
  CHECK(finished.cardinality() == 1000);
  const auto all = numbers(finished);
  CHECK(sorted(all) == up_to(1000));
  CHECK(numbers(finished) == all);
  CHECK(numbers(finished.skip(333)) == std::vector<int64_t>(all.begin() + 333, all.end()));
  const auto wrong =
      compression == io::Compression::Gzip ? io::Compression::None : io::Compression::Gzip;
  CHECK_THROWS_AS(Dataset::load(saving.path, wrong), InvalidArgumentError);
}

TEST_CASE("a saved dataset keeps names, and may have no elements",
          "[data_service][distributed_save]") {
  const Saving saving(2);
  SECTION("names") {
    saving.save("named");
    float sum = 0;
    int64_t count = 0;
    for (const Batch& element : saving.load()) {
      sum += element["b"].item<float>() * float(element["a"].item<int64_t>());
      ++count;
    }
    CHECK(count == 2);
    CHECK(sum == 1 * 3 + 2 * 4);
  }
  SECTION("none") {
    saving.save("none");
    saving.wait_for("DONE");
    CHECK(saving.load().cardinality() == 0);
    CHECK(numbers(saving.load()).empty());
  }
}

TEST_CASE("workers that read a finished save have files each", "[data_service][distributed_save]") {
  const Saving saving(2);
  saving.save("gated");
  const Dataset early = saving.load();
  check_throws<FailedPreconditionError>(
      [&] { data::auto_shard(early.node(), 2, 0, data::AutoShardPolicy::Data); },
      "a snapshot that is being written");
  saving.open_gate();
  saving.wait_for("DONE");
  std::vector<int64_t> all;
  for (const int64_t worker : {0, 1}) {
    const Dataset own(
        data::auto_shard(saving.load().node(), 2, worker, data::AutoShardPolicy::Auto));
    CHECK(own.cardinality() > 0);
    const auto part = numbers(own);
    all.insert(all.end(), part.begin(), part.end());
  }
  CHECK(sorted(all) == up_to(20000));
}

// TensorFlow 2.21: AlreadyExistsError "tf.data snapshot at ... is already started or completed".
TEST_CASE("saves that cannot be are refused", "[data_service][distributed_save]") {
  const Saving saving(1);
  const auto refused = [&](const std::string& id, SaveOptions options = {}) {
    return error_of([&] { saving.save(id, options); });
  };
  CHECK_THAT(refused("endless"),
             Contains("infinite") || Contains("without an end") || Contains("no end"));
  CHECK_THAT(refused("pairs"), Contains("workers cannot share it: it has 2 sources"));
  CHECK_THAT(refused("ten", {.compression = io::Compression::Zlib}), Contains("not Zlib"));
  CHECK_THAT(refused("ten", {.chunk_bytes = 0}), Contains("chunk_bytes must be positive, got 0"));
  CHECK_FALSE(std::filesystem::exists(saving.path));
  std::ofstream(saving.directory / "file").put(' ');
  check_throws<Error>(
      [&] {
        distributed_save("ten", saving.directory / "file/below", saving.target,
                         {.cluster = quick_options()});
      },
      "file");
  saving.save("gated");
  check_throws<AlreadyExistsError>([&] { saving.save("ten"); },
                                   "the snapshot at " + saving.path + " is already started");
  saving.open_gate();
  saving.wait_for("DONE");
  check_throws<AlreadyExistsError>([&] { saving.save("gated"); }, "started or completed");
  CHECK(sorted(numbers(saving.load())) == up_to(20000));
  const auto plain = start_dispatcher();
  const auto worker = start_worker(plain->target());
  check_throws<InvalidArgumentError>(
      [&] {
        distributed_save("ten", saving.directory / "other", plain->target(),
                         {.cluster = quick_options()});
      },
      "fault tolerant");
}

TEST_CASE("a save is read while it is written, also from a saved position",
          "[data_service][distributed_save]") {
  const Saving saving(2);
  Dataset early = Dataset::range(0);
  std::thread reader(
      [&] { early = Dataset::load(saving.path, {.wait = true, .wait_seconds = 60}); });
  saving.save("gated");
  reader.join();
  CHECK(early.cardinality() == data::kUnknownCardinality);
  saving.wait_for_chunks(4);
  auto elements = early.iterator();
  std::vector<int64_t> got;
  for (int i = 0; i < 100; ++i) got.push_back(number_of(elements.next()));
  CHECK_FALSE(saving.has("DONE"));
  auto position = elements.state();
  auto rest_of = [&](const Tensor& from) {
    auto later = saving.load().iterator();
    later.restore(from);
    std::vector<int64_t> all = got;
    while (auto element = later.get_next_as_optional()) all.push_back(number_of(*element));
    return all;
  };
  saving.open_gate();
  CHECK(sorted(rest_of(position)) == up_to(20000));
  saving.wait_for("DONE");
  CHECK(sorted(rest_of(position)) == up_to(20000));
  while (auto element = elements.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(20000));
  CHECK(sorted(rest_of(elements.state())) == up_to(20000));
}

TEST_CASE("readers give up on a save that does not go on", "[data_service][distributed_save]") {
  const Saving saving(1);
  check_throws<DeadlineExceededError>(
      [&] { Dataset::load(saving.path, {.wait = true, .wait_seconds = 0.05}); },
      "nothing was saved to " + saving.path);
  check_throws<NotFoundError>([&] { Dataset::load(saving.path); }, saving.path);
  saving.save("gated");
  check_throws<DeadlineExceededError>(
      [&] { numbers(Dataset::load(saving.path, {.wait_seconds = 0.3})); },
      "neither DONE nor ERROR");
  saving.open_gate();
}

TEST_CASE("a dispatcher that is started again goes on with a save",
          "[data_service][distributed_save]") {
  Saving saving(2);
  saving.save("gated");
  saving.wait_for_chunks(6);
  saving.restart_dispatcher();
  if (GENERATE(false, true)) saving.workers[1].reset();
  saving.restart_dispatcher();
  const auto late = start_worker(saving.target);
  saving.open_gate();
  saving.wait_for("DONE");
  CHECK(sorted(numbers(saving.load())) == up_to(20000));
}

TEST_CASE("chunks that are taken away from a save while the dispatcher is away end it",
          "[data_service][distributed_save]") {
  Saving saving(1);
  saving.save("gated");
  saving.wait_for_chunks(6);
  saving.dispatcher.reset();
  std::filesystem::remove_all(saving.path + "/chunks");
  saving.dispatcher = start_dispatcher(saving.config);
  saving.wait_for("ERROR");
  saving.open_gate();
  check_throws<FailedPreconditionError>([&] { saving.load(); }, "have vanished: there are 0");
}

TEST_CASE("an error of the pipeline ends a save with the worker's name",
          "[data_service][distributed_save]") {
  const Saving saving(1);
  saving.save("fails at five");
  saving.wait_for("ERROR");
  CHECK(file_text(saving.path + "/ERROR") == "code: DATA_LOSS\nmessage: \"data_worker 0 (" +
                                                 saving.workers[0]->address() + "): five\"\n");
  CHECK_FALSE(saving.has("DONE"));
  CHECK_FALSE(saving.has("streams"));
  check_throws<FailedPreconditionError>([&] { saving.load(); }, "): five");
  check_throws<AlreadyExistsError>([&] { saving.save("ten"); }, saving.path);
}

TEST_CASE("a full disk ends a save, and leaves no half chunk", "[data_service][distributed_save]") {
  const Saving saving(2);
  {
    const FileSizeLimit limit(100'000);
    saving.save("many", {});
    saving.wait_for("ERROR");
  }
  CHECK(saving.chunks() == 0);
  CHECK_THAT(file_text(saving.path + "/ERROR"), Contains("code: RESOURCE_EXHAUSTED") &&
                                                    Contains("data_worker ") &&
                                                    Contains("File too large"));
  testing::wait_until([&] { return !saving.has("streams"); }, "the end of the other worker");
  check_throws<FailedPreconditionError>([&] { saving.load(); }, "File too large");
}

DISTRIBUTE_CLUSTER_MAIN(saving_worker) {
  register_gated();
  WorkerServer worker({.dispatcher_address = task.argument(), .cluster = quick_options()});
  worker.join();
}

TEST_CASE("a process that is killed while it saves costs no element and repeats none",
          "[data_service][distributed_save][multiproc]") {
  const Saving saving(0);
  testing::ProcessCluster processes({.workers = 3,
                                     .function = "saving_worker",
                                     .argument = saving.target,
                                     .environment = {{kGateVariable, saving.gate}}});
  testing::wait_until([&] { return saving.dispatcher->num_workers() == 3; }, "the workers");
  saving.save("gated");
  saving.wait_for_chunks(20);
  auto early = saving.load().iterator();
  std::vector<int64_t> got{number_of(early.next())};
  processes.kill({"worker", 0});
  testing::wait_until([&] { return saving.dispatcher->num_workers() == 2; }, "the loss");
  CHECK_FALSE(saving.has("DONE"));
  saving.open_gate();
  while (auto element = early.get_next_as_optional()) got.push_back(number_of(*element));
  CHECK(sorted(got) == up_to(20000));
  saving.wait_for("DONE");
  CHECK(sorted(numbers(saving.load())) == up_to(20000));
  for (const int worker : {1, 2}) processes.kill({"worker", worker});
  processes.wait();
}

TEST_CASE("a process that was thought lost while it saves repeats no element",
          "[data_service][distributed_save][multiproc]") {
  const Saving saving(0, 3);
  testing::ProcessCluster processes({.workers = 2,
                                     .function = "saving_worker",
                                     .argument = saving.target,
                                     .environment = {{kGateVariable, saving.gate}}});
  testing::wait_until([&] { return saving.dispatcher->num_workers() == 2; }, "the workers");
  saving.save("gated");
  saving.wait_for_chunks(20);
  processes.pause({"worker", 0});
  testing::wait_until([&] { return saving.dispatcher->num_workers() == 1; }, "the loss");
  saving.open_gate();
  processes.resume({"worker", 0});  // it goes on with the chunk that it had begun
  saving.wait_for("DONE");
  CHECK(sorted(numbers(saving.load())) == up_to(20000));
  for (const int worker : {0, 1}) processes.kill({"worker", worker});
  processes.wait();
}

TEST_CASE("TensorFlow loads what workers save, and the other way round",
          "[data_service][distributed_save]") {
  const TemporaryDirectory own;
  const Saving saving(2);
  const auto compression = GENERATE(io::Compression::None, io::Compression::Gzip);
  saving.save("named", {.compression = compression});
  saving.wait_for("DONE");
  const std::string gzip = compression == io::Compression::Gzip ? "GZIP" : "None";
  if (!run_tensorflow_script("data_service/distributed_save.py",
                             saving.path + " " + own / "theirs" + " " + gzip, own / "log"))
    SKIP("Python has no TensorFlow; DISTRIBUTE_TENSORFLOW_PYTHON names one that has");
  CHECK_THAT(file_text(own / "log"), Contains("3 1.0\n4 2.0\n"));
  const Dataset theirs = Dataset::load(own / "theirs");
  CHECK(data::to_string(theirs.element_spec()) == "(a: [] int64, b: [2] float32)");
  std::vector<int64_t> got;
  for (const Batch& element : theirs) {
    got.push_back(element["a"].item<int64_t>());
    CHECK(element["b"].data<float>()[1] == float(got.back()) / 2);
  }
  CHECK(sorted(got) == up_to(50));
}
