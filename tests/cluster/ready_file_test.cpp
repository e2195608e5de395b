#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using Catch::Matchers::Contains;

TEST_CASE("a task is ready while its file is there", "[cluster][ready_file]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "ready";
  CHECK_THAT(not_ready_because(path), Contains("has not met the others yet"));
  {
    const ReadyFile ready(path);
    CHECK(not_ready_because(path) == "");
  }
  CHECK_THAT(not_ready_because(path), Contains("there is no " + path));
  CHECK_THAT(not_ready_because(""), Contains("DISTRIBUTE_READY_FILE is not set"));
}

TEST_CASE("the file of a process that has ended does not count", "[cluster][ready_file]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "ready";
  const pid_t child = ::fork();
  if (child == 0) {
    const ReadyFile* left = new ReadyFile(path);
    ::_exit(left ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(std::ifstream(path).good());
  CHECK_THAT(not_ready_because(path), Contains(std::to_string(child) + ", which has ended"));
  // The number may be in use again; the start time tells.
  std::ofstream(path) << ::getpid() << " 1\n";
  CHECK_THAT(not_ready_because(path), Contains("which has ended"));
}

TEST_CASE("a file that no task has made is neither replaced nor removed", "[cluster][ready_file]") {
  const TemporaryDirectory directory;
  const std::string notes = directory / "notes.txt", link = directory / "link";
  std::ofstream(notes) << "my notes\n";
  REQUIRE(::symlink(notes.c_str(), link.c_str()) == 0);
  for (const std::string& path : {notes, link, std::string("/dev/null"), directory.path()})
    check_throws<AlreadyExistsError>([&] { ReadyFile{path}; },
                                     "DISTRIBUTE_READY_FILE=" + path + " is there already");
  std::string text;
  std::getline(std::ifstream(notes) >> std::ws, text);
  CHECK(text == "my notes");
  {
    const ReadyFile ready(directory / "ready");
    std::ofstream(directory / "ready") << "another's\n";
  }
  CHECK(std::ifstream(directory / "ready").good());
}

TEST_CASE("no path is no file, and a path that cannot be written is an error",
          "[cluster][ready_file]") {
  const ReadyFile nothing("");
  check_throws<PermissionDeniedError>([] { ReadyFile("/nowhere/at/all"); },
                                      "DISTRIBUTE_READY_FILE=/nowhere/at/all: cannot write");
}
