#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/http/http_client.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/summary/file_writer.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/fake_s3.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/temporary_directory.hpp>

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

summary::FileWriter eager_writer(const std::string& logdir) {
  return summary::create_file_writer(logdir, {.store_flush_millis = 0});
}

void write_one(const summary::FileWriter& writer) {
  writer.write(1, {"loss", "scalars", summary::encode_tensor(1.0f)});
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
  CHECK_THROWS_SAYING(summary::create_file_writer(directory / "file/logs"), Error,
                      directory / "file");
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

TEST_CASE("a store that is down costs neither events nor time", "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto writer = eager_writer("mem://bucket/logs");
  const auto write = [&](int step) {
    writer.write(step, {"loss", "scalars", summary::encode_tensor(float(step))});
  };
  CaughtLog log;
  store.hold();  // an answer that never comes, while training goes on
  for (int step = 0; step < 1'000; ++step) write(step);
  writer.start_flush();
  store.fail_after(0, absl::UnavailableError("the store is down"), 1'000'000);
  store.release();
  CHECK_THROWS_AS(writer.flush(), UnavailableError);
  for (int step = 1'000; step < 1'100; ++step) write(step);
  store.clear_fault();
  writer.close();
  CHECK(events_of(writer.path()).size() == 1'101);
  CHECK_THAT(log.lines.at(0), Contains("its records are kept and tried again"));
}

TEST_CASE("a store that stays down fails close(), which names what is lost", "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto writer =
      summary::create_file_writer("mem://bucket/logs", {.store_close_seconds = 0.2});
  for (int step = 5; step < 12; ++step)
    writer.write(step, {"loss", "scalars", summary::encode_tensor(1.0f)});
  store.fail_after(0, absl::UnavailableError("the store is down"), 1'000'000);
  CHECK_THROWS_WITH(writer.close(),
                    Contains(writer.path()) && Contains("the store is down; 7 records of steps 5 "
                                                        "to 11 are lost"));
  CHECK_NOTHROW(writer.close());
}

TEST_CASE("events that find the queue full are lost, and close() names them", "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto writer = summary::create_file_writer("mem://bucket/logs",
                                                  {.store_flush_millis = 0, .max_waiting = 10});
  CaughtLog log;
  store.hold();
  for (int step = 0; step < 25; ++step)
    writer.write(step, {"loss", "scalars", summary::encode_tensor(1.0f)});
  store.release();
  CHECK_THROWS_WITH(writer.close(),
                    Contains(writer.path()) && Contains("15 records of steps 10 to 24 are lost"));
  CHECK(events_of(writer.path()).size() == 11);
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0], Contains("10 records wait for the store; later ones are lost"));
}

TEST_CASE("a store that will not come back fails the next write", "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto writer = summary::create_file_writer("mem://bucket/logs");
  write_one(writer);
  store.fail_after(0, absl::NotFoundError("NoSuchBucket"), 1);
  CaughtLog log;
  CHECK_THROWS_WITH(writer.flush(), Contains(writer.path()) && Contains("NoSuchBucket"));
  CHECK_THROWS_AS(write_one(writer), NotFoundError);
  CHECK(log.lines.empty());  // nothing is promised
  writer.close();
  CHECK(events_of(writer.path()).size() == 2);
}

TEST_CASE("only what may pass is promised another try", "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  const auto writer = eager_writer("mem://bucket/logs");
  const auto code =
      GENERATE(StatusCode::Unavailable, StatusCode::DeadlineExceeded, StatusCode::Aborted);
  store.fail_after(0, make_status(code, "the store is busy"), 1);
  CaughtLog log;
  write_one(writer);
  writer.close();
  CHECK(events_of(writer.path()).size() == 2);
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0], Contains("warning: event file: " + writer.path()) &&
                               Contains("the store is busy; its records are kept and tried again"));
}

TEST_CASE("a writer that is destroyed says which records it could not write", "[summary][store]") {
  MemoryStore& store = MemoryStore::fresh();
  CaughtLog log;
  std::string path;
  {
    const auto writer = summary::create_file_writer("mem://bucket/logs");
    path = writer.path();
    write_one(writer);
    store.fail_after(0, absl::PermissionDeniedError("AccessDenied"), 1);
  }
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0], Contains("warning: event file: " + path) && Contains("AccessDenied") &&
                               Contains("1 records of steps 1 to 1 are lost"));
  const auto closed = summary::create_file_writer("mem://bucket/logs");
  write_one(closed);
  store.fail_after(0, absl::PermissionDeniedError("AccessDenied"), 1);
  CHECK_THROWS_AS(closed.close(), PermissionDeniedError);
  { const auto unchanged = summary::create_file_writer("mem://bucket/logs"); }
  CHECK(log.lines.size() == 1);
}

TEST_CASE("a full disk is said where a writer is destroyed", "[summary]") {
  const TemporaryDirectory directory;
  CaughtLog log;
  std::optional writer = summary::create_file_writer(directory.path());
  const std::string path = writer->path();
  write_one(*writer);
  {
    const FileSizeLimit limit(30);
    writer.reset();
  }
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0], Contains("warning: event file: ") && Contains(path));
}

TEST_CASE("an S3 server that refuses event files is named with the file", "[summary][store]") {
  if (!io::has_http() || !io::has_xml()) SKIP("no libcurl or pugixml");
  FakeS3* const s3 = FakeS3::serve_process();
  if (!s3) SKIP("the environment names another server");
  const auto [status, code] =
      GENERATE(table<int, std::string>({{404, "NoSuchBucket"}, {403, "AccessDenied"}}));
  CaughtLog log;
  std::string path;
  {
    const auto writer = summary::create_file_writer("s3://bucket/logs");
    path = writer.path();
    write_one(writer);
    s3->set_fault([status = status, code = code](const HttpServerRequest&) {
      return FakeS3::error(status, code);
    });
    CHECK_THROWS_WITH(writer.flush(), Contains(path) && Contains(code));
    CHECK(log.lines.empty());
  }
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0], Contains("warning: event file: ") && Contains(path) && Contains(code));
}
