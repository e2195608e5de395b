#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/optim/sgd.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_test::error_of;
using checkpoint_test::Node;
using train::Checkpoint;
using train::CheckpointManager;
using Names = std::vector<std::string>;

namespace {

const train::CheckpointOptions kAsync{.enable_async = true};
constexpr const char* kDirectory = "mem://bucket/job";

/// The store lets go when the test ends, whatever happens: nothing may wait for ever.
struct Held {
  explicit Held(MemoryStore& store) : store(store) { store.hold(); }
  ~Held() { store.release(); }
  MemoryStore& store;
};

struct Fixture {
  explicit Fixture(int64_t max_failed_saves = 0)
      : manager(checkpoint,
                {.directory = kDirectory, .max_to_keep = 2, .max_failed_saves = max_failed_saves}) {
  }
  Node node;
  Variable variable = node.add("v", Tensor{1.0f, 2.0f});
  Checkpoint checkpoint{node};
  CheckpointManager manager;

  std::vector<float> values() const { return variable.value().to_vector(); }
};

}  // namespace

TEST_CASE("a save in the background holds the values of its moment", "[checkpoint][async]") {
  MemoryStore& store = MemoryStore::fresh();
  Fixture f;
  optim::SGD optimizer({.learning_rate = 1.0f});
  {
    const Held held(store);
    CHECK(f.manager.save({}, true, kAsync) == "mem://bucket/job/ckpt-1");
    optimizer.apply_gradients({Tensor{1.0f, 1.0f}}, {f.variable});  // in place
    f.variable.assign_add(Tensor{5.0f, 5.0f});
    CHECK(f.values() == std::vector<float>{5, 6});
    CHECK(store.names().empty());
  }
  f.manager.sync();
  CHECK(train::latest_checkpoint(kDirectory) == "mem://bucket/job/ckpt-1");
  CHECK(f.manager.restore_latest() == "mem://bucket/job/ckpt-1");
  CHECK(f.values() == std::vector<float>{1, 2});
}

TEST_CASE("saves in the background follow each other, and old ones are deleted",
          "[checkpoint][async]") {
  MemoryStore& store = MemoryStore::fresh();
  {
    Fixture f;
    for (int i = 1; i <= 4; ++i) {
      f.variable.assign(Tensor{float(i), 0.0f});
      f.manager.save({}, true, kAsync);
    }
    f.manager.save();  // waits for the fourth
    CHECK(f.manager.checkpoints() == Names{"mem://bucket/job/ckpt-4", "mem://bucket/job/ckpt-5"});
    CHECK(store.names().size() == 5);
    f.manager.save({}, true, kAsync);
  }  // the end waits too
  Fixture g;
  CHECK(g.manager.restore_latest() == "mem://bucket/job/ckpt-6");
  CHECK(g.values() == std::vector<float>{4, 0});
}

TEST_CASE("the error of a save in the background comes from the next call", "[checkpoint][async]") {
  MemoryStore& store = MemoryStore::fresh();
  Fixture f;
  f.manager.save();
  const Names before = store.names();
  const auto fail = [&] {
    store.fail_after(2, absl::UnavailableError("the store is down"));
    f.manager.save({}, true, kAsync);
  };
  fail();
  SECTION("sync") {
    CHECK_THAT(error_of<UnavailableError>([&] { f.manager.sync(); }),
               Contains("mem://bucket/job") && Contains("the store is down"));
  }
  SECTION("save") { CHECK_THROWS_AS(f.manager.save({}, true, kAsync), UnavailableError); }
  SECTION("restore") { CHECK_THROWS_AS(f.manager.restore_latest(), UnavailableError); }
  CHECK(store.names() == before);
  CHECK(f.manager.latest_checkpoint() == "mem://bucket/job/ckpt-1");
  CHECK_NOTHROW(f.manager.sync());  // once
  CHECK(f.manager.save({}, true, kAsync) == "mem://bucket/job/ckpt-3");
  CHECK_NOTHROW(f.manager.sync());
  CHECK(train::latest_checkpoint(kDirectory) == "mem://bucket/job/ckpt-3");
}

TEST_CASE("failures in the background may be forgiven", "[checkpoint][async]") {
  MemoryStore& store = MemoryStore::fresh();
  Fixture f(1);
  f.manager.save();
  store.fail_after(0, absl::UnavailableError("the store is down"), 1'000);
  CHECK(f.manager.save({}, true, kAsync));
  CHECK(f.manager.save({}, true, kAsync));  // the first failure
  CHECK_THROWS_AS(f.manager.save({}, true, kAsync), UnavailableError);
  store.clear_fault();
  CHECK(f.manager.save({}, true, kAsync));
  f.manager.sync();
  CHECK(f.manager.restore_latest() == f.manager.latest_checkpoint());
}

TEST_CASE("Checkpoint writes in the background and tells who asked", "[checkpoint][async]") {
  MemoryStore::fresh();
  Node node;
  const Variable variable = node.add("v", Tensor{1.0f});
  Checkpoint checkpoint(node);
  Names told;
  train::CheckpointOptions options = kAsync;
  options.experimental_write_callbacks = {[&](const std::string& prefix) {
    told.push_back(prefix);
    CHECK(*io::read_file(prefix + ".index") != "");
  }};
  checkpoint.write("mem://bucket/a", options);
  CHECK(checkpoint.save("mem://bucket/b", options) == "mem://bucket/b-1");
  checkpoint.sync();
  CHECK(told == Names{"mem://bucket/a", "mem://bucket/b-1"});
  CHECK(train::latest_checkpoint("mem://bucket") == "mem://bucket/b-1");
  variable.assign(Tensor{7.0f});
  checkpoint.save("mem://bucket/b", options);
  variable.assign(Tensor{8.0f});
  checkpoint.restore("mem://bucket/b-2");  // waits
  CHECK(variable.value().item<float>() == 7);
  options.enable_async = false;
  checkpoint.write("mem://bucket/c", options);
  CHECK(told.back() == "mem://bucket/c");
}

TEST_CASE("three workers save in the background: one error reaches all",
          "[checkpoint][async][workers]") {
  MemoryStore& store = MemoryStore::fresh();
  run_clean(3, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    Fixture f;
    for (int i = 0; i < 3; ++i) f.manager.save({}, true, kAsync);
    f.manager.sync();
    require(f.manager.restore_latest() == "mem://bucket/job/ckpt-3", "the third");
    if (worker == 0) store.fail_after(0, absl::UnavailableError("the store is down"), 1'000);
    f.manager.save({}, true, kAsync);
    std::string error;
    try {
      f.manager.sync();
    } catch (const UnavailableError& unavailable) {
      error = unavailable.what();
    }
    require(error.find("rank 0 of 3") != std::string::npos, "every rank gets the error");
    require(f.manager.latest_checkpoint() == "mem://bucket/job/ckpt-3", "as before");
  });
  store.clear_fault();
  CHECK(store.names().size() == 5);
}
