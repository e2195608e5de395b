#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("files in memory are written, read, listed, renamed and removed",
          "[io][ram_file_system]") {
  io::FileSystem& ram = *value_or_throw(io::file_system_for("ram://any"));
  REQUIRE(io::write_file_atomically("ram://test/a/one", "first").ok());
  REQUIRE(io::write_file_atomically("ram://test/a/one", "second").ok());
  REQUIRE(io::write_file_atomically("ram://test/two", "2").ok());
  CHECK(*io::read_file("ram://test/a/one") == "second");
  CHECK(*ram.file_size("ram://test/a/one") == 6);
  CHECK(*ram.list_directory("ram://test") == std::vector<std::string>{"a", "two"});
  CHECK(*ram.is_directory("ram://test/a"));
  CHECK_FALSE(*ram.is_directory("ram://test/two"));
  REQUIRE(ram.rename("ram://test/two", "ram://test/a/three").ok());
  CHECK_FALSE(*ram.exists("ram://test/two"));
  REQUIRE(io::remove_recursively("ram://test").ok());
  CHECK_FALSE(*ram.exists("ram://test"));
  for (const absl::Status& status :
       {io::read_file("ram://none").status(), ram.remove_file("ram://none"),
        ram.rename("ram://none", "ram://other"), ram.file_size("ram://none").status()}) {
    CHECK(absl::IsNotFound(status));
    CHECK(std::string(status.message()).find("ram://none") != std::string::npos);
  }
}

TEST_CASE("a file in memory outlives its name while it is open", "[io][ram_file_system]") {
  io::FileSystem& ram = *value_or_throw(io::file_system_for("ram://any"));
  const auto writer = value_or_throw(ram.create("ram://open/file"));
  REQUIRE(writer->append("kept").ok());
  const auto reader = value_or_throw(ram.open("ram://open/file"));
  REQUIRE(ram.remove_file("ram://open/file").ok());
  std::thread other([&] { CHECK(writer->append(std::string(1 << 20, 'x')).ok()); });
  std::string bytes(4, ' ');
  for (int i = 0; i < 100; ++i) CHECK(reader->read(0, bytes).ok());
  other.join();
  CHECK(bytes == "kept");
}
