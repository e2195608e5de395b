/// Checkpoints and event files on the real server of scripts/object_store_check.sh.
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/summary/file_writer.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>

#include <cstdlib>

using namespace distribute;
using checkpoint_test::Node;

namespace {

std::string store_url() {
  const char* url = std::getenv("DISTRIBUTE_OBJECT_STORE_URL");
  return url ? url : "";
}

}  // namespace

#define NEEDS_STORE()                        \
  if (store_url().empty())                   \
  SKIP(                                      \
      "no DISTRIBUTE_OBJECT_STORE_URL; see " \
      "scripts/object_store_check.sh")

TEST_CASE("checkpoints are saved on a store, found again, and old ones removed",
          "[checkpoint][object_store]") {
  NEEDS_STORE();
  const std::string directory = store_url() + "/object_store_checkpoint_test";
  throw_if_error(io::remove_recursively(directory));
  const Tensor large(Shape{3'000'000}, std::vector<float>(3'000'000, 0.5f));  // three parts
  {
    Node node;
    Variable step = node.add("step", Tensor(int64_t{0})), weights = node.add("weights", large);
    train::Checkpoint checkpoint{node};
    train::CheckpointManager manager(checkpoint, {.directory = directory, .max_to_keep = 2});
    for (int64_t i = 1; i <= 3; ++i) {
      step.assign(Tensor(i));
      REQUIRE(manager.save());
    }
  }
  const auto names =
      value_or_throw(value_or_throw(io::file_system_for(directory))->list_directory(directory));
  CHECK(names == std::vector<std::string>{"checkpoint", "ckpt-2.data-00000-of-00001",
                                          "ckpt-2.index", "ckpt-3.data-00000-of-00001",
                                          "ckpt-3.index"});
  CHECK(train::latest_checkpoint(directory) == directory + "/ckpt-3");
  Node node;
  Variable step = node.add("step", Tensor(int64_t{0}));
  Variable weights = node.add("weights", Tensor(Shape{3'000'000}, std::vector<float>(3'000'000)));
  train::Checkpoint checkpoint{node};
  train::CheckpointManager manager(checkpoint, {.directory = directory, .max_to_keep = 2});
  CHECK(manager.restore_latest() == directory + "/ckpt-3");
  CHECK(step.value().item<int64_t>() == 3);
  CHECK(weights.value().data<float>()[2'999'999] == 0.5f);
  throw_if_error(io::remove_recursively(directory));
}

TEST_CASE("an event file on a store can be read while it grows", "[checkpoint][object_store]") {
  NEEDS_STORE();
  const std::string directory = store_url() + "/object_store_event_test";
  throw_if_error(io::remove_recursively(directory));
  auto& fs = *value_or_throw(io::file_system_for(directory));
  const auto records = [&] {
    const auto names = value_or_throw(fs.list_directory(directory));
    auto reader = value_or_throw(io::RecordReader::open(directory + "/" + names.at(0)));
    int count = 0;
    for (std::string record; value_or_throw(reader.next(record));) ++count;
    return count;
  };
  const auto writer = summary::create_file_writer(directory);
  const auto as_default = writer.as_default();
  summary::scalar("loss", 0.5, 1);
  writer.flush();
  CHECK(records() == 2);  // the file's version comes first
  summary::scalar("loss", 0.25, 2);
  writer.close();
  CHECK(records() == 3);
  throw_if_error(io::remove_recursively(directory));
}
