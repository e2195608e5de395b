#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/summary/file_writer.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/temporary_directory.hpp>

#include <filesystem>
#include <fstream>
#include <regex>

using namespace distribute;

namespace {

std::vector<summary::Event> events_of(const std::string& path) {
  auto reader = value_or_throw(io::RecordReader::open(path));
  std::vector<summary::Event> events;
  for (std::string record; value_or_throw(reader.next(record));)
    events.push_back(summary::decode_event(record, path));
  return events;
}

}  // namespace

TEST_CASE("a writer makes directory and file as TensorBoard expects them", "[summary]") {
  const TemporaryDirectory directory;
  const auto writer = summary::create_file_writer(directory / "logs/train");
  const std::string name = std::filesystem::path(writer.path()).filename();
  CHECK(std::regex_match(name, std::regex(R"(events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+\.v2)")));
  CHECK(events_of(writer.path()).at(0).file_version == "brain.Event:2");
  const auto second = summary::create_file_writer(directory / "logs/train");
  CHECK(second.path() != writer.path());
}

TEST_CASE("values come back under tag and step", "[summary]") {
  const TemporaryDirectory directory;
  const auto writer = summary::create_file_writer(directory.path());
  {
    const auto scope = writer.as_default();
    CHECK(summary::scalar("loss", 0.5, 1));
    CHECK(summary::scalar("loss", Tensor(0.25f), 2));
    CHECK(summary::histogram("weights", Tensor{1.0f, 2.0f}, 2));
    CHECK(summary::text("notes", "**bold**", 2));
    CHECK(summary::image("input", zeros({5, 4, 3, 1}), 2));
    CHECK_THROWS_AS(summary::scalar("loss", Tensor{1.0f, 2.0f}, 2), InvalidArgumentError);
    CHECK_THROWS_AS(summary::image("input", zeros({4, 3, 1}), 2), InvalidArgumentError);
  }
  CHECK_FALSE(summary::scalar("loss", 0.125, 3));  // no writer any more
  writer.close();
  writer.write(9, {"late", "scalars", summary::encode_tensor(1.0f)});
  const auto events = events_of(writer.path());
  REQUIRE(events.size() == 6);
  CHECK(events[1].step == 1);
  CHECK(events[1].entries.at(0).tag == "loss");
  CHECK(events[1].entries.at(0).number == 0.5);
  CHECK(events[1].wall_time > 1.7e9);
  CHECK(events[2].entries.at(0).number == 0.25);
  CHECK(events[3].entries.at(0).dims == std::vector<int64_t>{30, 3});
  CHECK(events[3].entries.at(0).plugin == "histograms");
  CHECK(events[4].entries.at(0).plugin == "text");
  CHECK(events[5].entries.at(0).dims == std::vector<int64_t>{5});  // width, height, 3 images
}

TEST_CASE("records reach the file when the queue is full and at flush", "[summary]") {
  const TemporaryDirectory directory;
  const auto writer =
      summary::create_file_writer(directory.path(), {.max_queue = 3, .flush_millis = 1'000'000});
  const auto scope = writer.as_default();
  summary::scalar("x", 1, 1);
  summary::scalar("x", 1, 2);
  CHECK(events_of(writer.path()).size() == 1);
  summary::scalar("x", 1, 3);
  CHECK(events_of(writer.path()).size() == 4);
  summary::scalar("x", 1, 4);
  writer.flush();
  CHECK(events_of(writer.path()).size() == 5);
}

TEST_CASE("scopes nest", "[summary]") {
  const TemporaryDirectory directory;
  const auto outer = summary::create_file_writer(directory / "a");
  const auto inner = summary::create_file_writer(directory / "b");
  {
    const auto scope = outer.as_default();
    {
      const auto inner_scope = inner.as_default();
      summary::scalar("x", 1, 1);
    }
    summary::scalar("x", 2, 2);
  }
  outer.flush();
  inner.flush();
  CHECK(events_of(inner.path()).at(1).step == 1);
  CHECK(events_of(outer.path()).at(1).step == 2);
}

TEST_CASE("only replica 0 records", "[summary][replicas]") {
  const TemporaryDirectory directory;
  MirroredStrategy strategy({.num_replicas = 2});
  const auto writer = summary::create_file_writer(directory.path());
  const auto scope = writer.as_default();
  const auto wrote =
      strategy.run([](float value) { return summary::scalar("x", double(value), 1); },
                   PerReplica<float>({7, 8}));
  CHECK(wrote.values() == std::vector<bool>{true, false});
  writer.flush();
  const auto events = events_of(writer.path());
  REQUIRE(events.size() == 2);
  CHECK(events[1].entries.at(0).number == 7);
}

TEST_CASE("a log directory that cannot be made is named", "[summary]") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "x";
  try {
    summary::create_file_writer(directory / "file/logs");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find(directory / "file") != std::string::npos);
  }
}

TEST_CASE("on a store the event file is rewritten now and then, and whole at the end",
          "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto writer = summary::create_file_writer("mem://bucket/logs");
  CHECK(events_of(writer.path()).size() == 1);
  for (int step = 0; step < 25; ++step)
    writer.write(step, {"loss", "scalars", summary::encode_tensor(float(step))});
  CHECK(store.puts().size() == 1);  // it is too early
  writer.flush();
  CHECK(events_of(writer.path()).size() == 26);
  writer.write(25, {"loss", "scalars", summary::encode_tensor(25.0f)});
  writer.close();
  CHECK(events_of(writer.path()).size() == 27);
  CHECK(store.puts() == std::vector<std::string>(3, writer.path()));
}

TEST_CASE("a store that is down costs the event file nothing, up to a limit", "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto writer = summary::create_file_writer(
      "mem://bucket/logs", {.store_flush_millis = 0, .max_failed_flushes = 3});
  const auto write = [&](int step) {
    writer.write(step, {"loss", "scalars", summary::encode_tensor(float(step))});
  };
  store.fail_after(0, absl::UnavailableError("the store is down"), 1'000);
  int step = 0;
  const auto write_until_it_throws = [&] {
    for (; step < 1'000'000; ++step) write(step);
  };
  CHECK_THROWS_AS(write_until_it_throws(), UnavailableError);
  CHECK(step >= 3);
  store.clear_fault();
  writer.close();
  CHECK(events_of(writer.path()).size() == size_t(step) + 2);
}
