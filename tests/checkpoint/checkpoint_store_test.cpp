#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/fake_gcs.hpp>
#include <tests/support/fake_webhdfs.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_test::error_of;
using checkpoint_test::Node;
using train::Checkpoint;
using train::CheckpointManager;
using Names = std::vector<std::string>;

namespace {

constexpr const char* kDirectory = "mem://bucket/job";

/// One variable, its checkpoint and a manager.
struct Fixture {
  explicit Fixture(std::string directory, int64_t max_failed_saves = 0)
      : manager(checkpoint, {.directory = std::move(directory),
                             .max_to_keep = 2,
                             .max_failed_saves = max_failed_saves}) {}
  Node node;
  Variable variable = node.add("v", Tensor(int64_t{0}));
  Checkpoint checkpoint{node};
  CheckpointManager manager;

  std::optional<std::string> save(int64_t value) {
    variable.assign(Tensor(value));
    return manager.save();
  }
  int64_t value() const { return variable.value().item<int64_t>(); }
};

/// A directory of this kind, without anything in it.
std::string directory_on(const std::string& kind, const TemporaryDirectory& temporary) {
  if (kind == "local") return temporary / "job";
  if (kind == "mem") MemoryStore::fresh();
  if (kind == "gs") FakeGcs::serve_process();
  if (kind == "hdfs") FakeWebHdfs::serve_process();
  const std::string directory = kind + "://bucket/job";
  throw_if_error(io::remove_recursively(directory));  // a real server keeps what was there
  return directory;
}

/// Without the lock of the manager that is there.
Names names_in(const std::string& directory) {
  Names names =
      value_or_throw(value_or_throw(io::file_system_for(directory))->list_directory(directory));
  std::erase(names, ".checkpoint_writer");
  return names;
}

Names files_of(const Names& prefixes) {
  Names files = {"checkpoint"};
  for (const std::string& prefix : prefixes) {
    files.push_back(prefix + ".data-00000-of-00001");
    files.push_back(prefix + ".index");
  }
  return files;
}

}  // namespace

TEST_CASE("checkpoints work the same on a disk and on a store", "[checkpoint][store]") {
  const TemporaryDirectory temporary;
  const std::string kind = GENERATE("local", "mem", "gs", "hdfs");
  if (!io::has_http() && kind.ends_with("s")) SKIP("no libcurl");
  const std::string directory = directory_on(kind, temporary);
  CAPTURE(directory);
  {
    Fixture f(directory);
    CHECK(f.manager.restore_latest() == std::nullopt);
    for (int64_t value = 1; value <= 3; ++value) f.save(value);
    CHECK(f.manager.checkpoints() == Names{directory + "/ckpt-2", directory + "/ckpt-3"});
    CHECK(names_in(directory) == files_of({"ckpt-2", "ckpt-3"}));
    f.checkpoint.write(directory + "/mine/best");
    f.checkpoint.write(directory + "/mine/best");  // over an older one
    CHECK(names_in(directory + "/mine") == Names{"best.data-00000-of-00001", "best.index"});
  }
  Fixture g(directory);
  CHECK(g.manager.restore_latest() == directory + "/ckpt-3");
  CHECK(g.value() == 3);
  CHECK(train::latest_checkpoint(directory) == directory + "/ckpt-3");
  g.variable.assign(Tensor(int64_t{9}));
  g.checkpoint.restore(directory + "/mine/best").assert_consumed();
  CHECK(g.value() == 3);
  REQUIRE(io::remove_recursively(directory).ok());
  CHECK_FALSE(*value_or_throw(io::file_system_for(directory))->exists(directory));
}

TEST_CASE("partitioned parts are merged on a disk and on a store", "[checkpoint][store]") {
  const TemporaryDirectory temporary;
  const std::string kind = GENERATE("local", "mem", "gs", "hdfs");
  if (!io::has_http() && kind.ends_with("s")) SKIP("no libcurl");
  const std::string directory = directory_on(kind, temporary);
  const std::vector<float> rows = {1, 2, 3, 4};
  for (int part = 0; part < 2; ++part) {
    train::BundleWriter writer(directory + "/part" + std::to_string(part) + "/p");
    writer.add_slice("w", io::DataType::Float, {4}, {{part * 2, 2}},
                     std::as_bytes(std::span(rows).subspan(size_t(part) * 2, 2)));
    writer.finish();
  }
  train::merge_bundles({directory + "/part0/p", directory + "/part1/p"}, directory + "/all");
  train::BundleReader reader(directory + "/all");
  const auto bytes = reader.read("w");
  CHECK(std::vector<std::byte>(bytes) ==
        std::vector<std::byte>(std::as_bytes(std::span(rows)).begin(),
                               std::as_bytes(std::span(rows)).end()));
  CHECK(names_in(directory).size() == 3);
}

TEST_CASE("on a store data come first, the index second and the state last",
          "[checkpoint][store]") {
  MemoryStore& store = MemoryStore::fresh();
  Fixture f(kDirectory);
  f.save(1);
  CHECK(store.puts() == Names{"mem://bucket/job/ckpt-1.data-00000-of-00001",
                              "mem://bucket/job/ckpt-1.index", "mem://bucket/job/checkpoint"});
}

TEST_CASE("wherever a save to a store breaks off, the checkpoint before it stays the latest",
          "[checkpoint][store]") {
  int64_t broken = 0;
  for (bool again = true; again; ++broken) {
    CAPTURE(broken);
    MemoryStore& store = MemoryStore::fresh();
    Fixture f(kDirectory);
    for (int64_t value = 1; value <= 2; ++value) f.save(value);
    const Names before = store.names();
    store.fail_after(broken, absl::UnavailableError("the store is down"));
    std::string error;
    try {
      f.save(3);
    } catch (const UnavailableError& unavailable) {
      error = unavailable.what();
    }
    again = !store.fault_waits();
    store.clear_fault();
    const std::string latest = *train::latest_checkpoint(kDirectory);
    if (!again) {
      CHECK(latest == "mem://bucket/job/ckpt-3");
      continue;
    }
    INFO("error: " << error);
    CHECK_THAT(error, Contains("mem://bucket/job") && Contains("the store is down"));
    if (latest == "mem://bucket/job/ckpt-2") {
      CHECK(store.names() == before);
      CHECK(f.manager.latest_checkpoint() == latest);
    }
    Fixture g(kDirectory);
    REQUIRE(g.manager.restore_latest() == latest);
    CHECK(g.value() == (latest == "mem://bucket/job/ckpt-2" ? 2 : 3));
    CHECK(f.save(4));  // training goes on
    CHECK(Fixture(kDirectory).manager.restore_latest() == f.manager.latest_checkpoint());
  }
  CHECK(broken > 5);  // each of the calls was cut once
}

TEST_CASE("an older checkpoint of the same name is never mixed with a new one",
          "[checkpoint][store]") {
  for (int64_t passed = 0; passed < 8; ++passed) {
    CAPTURE(passed);
    MemoryStore& store = MemoryStore::fresh();
    Fixture f(kDirectory);
    f.variable.assign(Tensor(int64_t{1}));
    f.checkpoint.write("mem://bucket/best");
    f.variable.assign(Tensor(int64_t{2}));
    store.fail_after(passed, absl::UnavailableError("the store is down"));
    try {
      f.checkpoint.write("mem://bucket/best");
    } catch (const UnavailableError&) {
    }
    store.clear_fault();
    try {
      f.checkpoint.restore("mem://bucket/best");
      CHECK((f.value() == 1 || f.value() == 2));
    } catch (const NotFoundError&) {
      CHECK(store.names().empty());
    }
  }
}

TEST_CASE("a state file that names a missing checkpoint says what to write into it",
          "[checkpoint][store]") {
  const TemporaryDirectory temporary;
  const std::string kind = GENERATE("local", "mem", "gs", "hdfs");
  if (!io::has_http() && kind.ends_with("s")) SKIP("no libcurl");
  const std::string directory = directory_on(kind, temporary), file = directory + "/checkpoint";
  CAPTURE(directory);
  Fixture f(directory);
  f.save(1);
  f.save(2);
  throw_if_error(io::remove_recursively(directory + "/ckpt-2.index"));
  const auto error = [&] {
    return error_of<NotFoundError>([&] { Fixture(directory).manager.restore_latest(); });
  };
  CHECK_THAT(error(), Contains(directory + "/ckpt-2.index") && Contains(file + " names it") &&
                          Contains("write `model_checkpoint_path: \"ckpt-1\"` into " + file));
  CHECK_THAT(error_of<NotFoundError>([&] { f.checkpoint.restore(directory + "/ckpt-9"); }),
             !Contains("names it"));
  train::remove_checkpoint(directory + "/ckpt-1");
  CHECK_THAT(error(), Contains("remove " + file + " to start anew"));
}

TEST_CASE("a bucket that is not there is found before the first step", "[checkpoint][store]") {
  if (!io::has_http()) SKIP("no libcurl");
  FakeGcs::serve_process();
  CHECK_THAT(error_of<FailedPreconditionError>([] { Fixture("gs://nosuchbucket/a"); }),
             Contains("gs://nosuchbucket/a/checkpoint") && Contains("bucket does not exist") &&
                 Contains("check the names of bucket and object"));
}

TEST_CASE("a store that is down for some saves does not end the training", "[checkpoint][store]") {
  MemoryStore& store = MemoryStore::fresh();
  Fixture f(kDirectory, 2);
  f.save(1);
  store.fail_after(0, absl::UnavailableError("the store is down"), 1'000);
  CHECK(f.save(2) == std::nullopt);
  CHECK(f.save(3) == std::nullopt);
  CHECK(f.manager.latest_checkpoint() == "mem://bucket/job/ckpt-1");
  store.clear_fault();
  CHECK(f.save(4) == "mem://bucket/job/ckpt-2");  // and the count begins anew
  store.fail_after(0, absl::UnavailableError("the store is down"), 1'000);
  CHECK(f.save(5) == std::nullopt);
  CHECK(f.save(6) == std::nullopt);
  CHECK_THROWS_AS(f.save(7), UnavailableError);
  store.fail_after(0, absl::PermissionDeniedError("the key was withdrawn"), 1'000);
  CHECK_THROWS_AS(Fixture(kDirectory, 2).save(8), PermissionDeniedError);  // would not pass
  store.clear_fault();
  CHECK(Fixture(kDirectory).manager.restore_latest() == "mem://bucket/job/ckpt-2");
}

TEST_CASE("a half-written state file on a store names itself and the cure", "[checkpoint][store]") {
  MemoryStore::fresh();
  Fixture f(kDirectory);
  for (int64_t value = 1; value <= 11; ++value) f.save(value);
  const std::string file = "mem://bucket/job/checkpoint";
  throw_if_error(io::write_file_atomically(file, "model_checkpoint_path: \"ckpt"));
  const std::string error = error_of<DataLossError>([] { Fixture g(kDirectory); });
  CHECK_THAT(error, Contains(file) && Contains("no closing quote"));
  CHECK_THAT(error, Contains("model_checkpoint_path: \"ckpt-11\""));
  throw_if_error(io::write_file_atomically(file, ""));
  CHECK_THAT(error_of<DataLossError>([] { train::latest_checkpoint(kDirectory); }),
             Contains("ckpt-11"));
  throw_if_error(io::write_file_atomically("mem://empty/checkpoint", "?"));
  CHECK_THAT(error_of<DataLossError>([] { train::latest_checkpoint("mem://empty"); }),
             Contains("remove mem://empty/checkpoint"));
}

TEST_CASE("three workers save to a store; one set of files stays", "[checkpoint][store][workers]") {
  MemoryStore& store = MemoryStore::fresh();
  run_clean(3, 1, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Fixture f(kDirectory);
    for (int64_t value = 1; value <= 3; ++value) f.save(value);
    f.variable.assign(Tensor(int64_t{0}));
    require(f.manager.restore_latest() == "mem://bucket/job/ckpt-3", "the latest");
    require(f.value() == 3, "the value");
  });
  CHECK(names_in(kDirectory) == files_of({"ckpt-2", "ckpt-3"}));
  CHECK(store.names().size() == 5);
}
