#include <distribute/base/status.hpp>
#include <distribute/io/detail/growing_file.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

TEST_CASE("others see a growing file after every flush, on a disk and on a store",
          "[io][growing_file]") {
  const TemporaryDirectory directory;
  MemoryStore::fresh();
  const std::string path = GENERATE(false, true) ? "mem://bucket/log" : directory / "log";
  auto file = value_or_throw(io::create_growing_file(path));
  REQUIRE(file->append("one ").ok());
  REQUIRE(file->flush().ok());
  CHECK(*io::read_file(path) == "one ");
  REQUIRE(file->append("two").ok());
  REQUIRE(file->close().ok());
  CHECK(*io::read_file(path) == "one two");
}

TEST_CASE("a flush to a store without new bytes sends nothing", "[io][growing_file]") {
  MemoryStore& store = MemoryStore::fresh();
  auto file = value_or_throw(io::create_growing_file("mem://bucket/log"));
  REQUIRE(file->append("one").ok());
  for (int i = 0; i < 3; ++i) REQUIRE(file->flush().ok());
  REQUIRE(file->close().ok());
  CHECK(store.puts() == std::vector<std::string>{"mem://bucket/log"});
}

TEST_CASE("what a failed flush could not send goes with the next", "[io][growing_file]") {
  MemoryStore& store = MemoryStore::fresh();
  auto file = value_or_throw(io::create_growing_file("mem://bucket/log"));
  REQUIRE(file->append("one ").ok());
  REQUIRE(file->flush().ok());
  REQUIRE(file->append("two").ok());
  store.fail_after(0, absl::UnavailableError("the store is down"));
  CHECK(file->flush().code() == absl::StatusCode::kUnavailable);
  CHECK(*io::read_file("mem://bucket/log") == "one ");
  CHECK(file->flush().ok());
  CHECK(*io::read_file("mem://bucket/log") == "one two");
}
