#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/temporary_directory.hpp>

#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace distribute;

namespace {

io::FileSystem& local() { return *value_or_throw(io::file_system_for("/")); }

std::string message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

std::vector<std::string> names_in(const TemporaryDirectory& directory) {
  return value_or_throw(local().list_directory(directory.path()));
}

}  // namespace

TEST_CASE("paths join and split as expected, with and without a scheme", "[io][path]") {
  CHECK(io::join_path("a", "b") == "a/b");
  CHECK(io::join_path("a/", "b") == "a/b");
  CHECK(io::join_path("", "b") == "b");
  CHECK(io::join_path("a", "/b") == "/b");
  CHECK(io::join_path("a", "s3://b/c") == "s3://b/c");
  CHECK(io::directory_of("/a/b") == "/a");
  CHECK(io::directory_of("/a") == "/");
  CHECK(io::directory_of("a").empty());
  CHECK(io::directory_of("s3://b/c") == "s3://b");
  CHECK(io::directory_of("s3://b") == "s3://b");
  CHECK(io::file_name_of("/a/b") == "b");
  CHECK(io::file_name_of("b") == "b");
  CHECK(io::scheme_of("s3://a/b") == "s3");
  CHECK(io::scheme_of("/a://b").empty());
}

TEST_CASE("a file written in pieces is read back whole and in ranges", "[io][file_system]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "sub/dir/file", big(100'000, 'x');
  REQUIRE(local().make_dirs(directory / "sub/dir").ok());
  {
    auto file = value_or_throw(local().create(path));
    REQUIRE(file->append("hello ").ok());
    REQUIRE(file->append(big).ok());
    REQUIRE(file->append("world").ok());
    REQUIRE(file->sync().ok());
    REQUIRE(file->close().ok());
  }
  CHECK(*io::read_file(path) == "hello " + big + "world");
  CHECK(*io::read_file("file://" + path) == "hello " + big + "world");
  CHECK(*local().file_size(path) == 100'011);
  auto file = value_or_throw(local().open(path));
  std::string tail(5, ' ');
  REQUIRE(file->read(100'006, tail).ok());
  CHECK(tail == "world");
  const auto status = file->read(100'007, tail);
  CHECK(status.code() == absl::StatusCode::kDataLoss);
  CHECK(message(status).find(path) != std::string::npos);
}

TEST_CASE("directories are made, listed in order and removed with their contents",
          "[io][file_system]") {
  const TemporaryDirectory directory;
  REQUIRE(local().make_dirs(directory / "a/b/c").ok());
  REQUIRE(local().make_dirs(directory / "a/b/c").ok());
  std::ofstream(directory / "a/z") << "z";
  std::ofstream(directory / "a/k") << "k";
  CHECK(*local().list_directory(directory / "a") == std::vector<std::string>{"b", "k", "z"});
  CHECK(*local().is_directory(directory / "a"));
  CHECK_FALSE(*local().is_directory(directory / "a/z"));
  CHECK_FALSE(*local().exists(directory / "a/none"));
  CHECK(local().remove_directory(directory / "a").code() == absl::StatusCode::kFailedPrecondition);
  REQUIRE(io::remove_recursively(directory / "a").ok());
  CHECK_FALSE(*local().exists(directory / "a"));
  CHECK(io::remove_recursively(directory / "a").ok());
}

TEST_CASE("removing a directory does not follow links out of it", "[io][file_system]") {
  const TemporaryDirectory directory;
  REQUIRE(local().make_dirs(directory / "keep").ok());
  REQUIRE(local().make_dirs(directory / "gone").ok());
  std::ofstream(directory / "keep/file") << "k";
  REQUIRE(symlink((directory / "keep").c_str(), (directory / "gone/link").c_str()) == 0);
  REQUIRE(io::remove_recursively(directory / "gone").ok());
  CHECK(*local().exists(directory / "keep/file"));
}

TEST_CASE("file errors name the path and the reason", "[io][file_system]") {
  const TemporaryDirectory directory;
  const auto missing = io::read_file(directory / "none").status();
  CHECK(missing.code() == absl::StatusCode::kNotFound);
  CHECK(message(missing) == "cannot open " + (directory / "none") + ": No such file or directory");
  CHECK(io::read_file(directory.path()).status().code() == absl::StatusCode::kFailedPrecondition);
  std::ofstream(directory / "file") << "f";
  CHECK(local().make_dirs(directory / "file/sub").code() == absl::StatusCode::kFailedPrecondition);
  CHECK(local().remove_file(directory / "none").code() == absl::StatusCode::kNotFound);
  const auto cloud = io::read_file("ftp://host/file").status();
  CHECK(cloud.code() == absl::StatusCode::kUnimplemented);
  CHECK(message(cloud).find("ftp://") != std::string::npos);
}

TEST_CASE("an atomic file appears whole and leaves no temporary", "[io][atomic_file]") {
  const TemporaryDirectory directory;
  REQUIRE(io::write_file_atomically(directory / "new/file", "one").ok());
  REQUIRE(io::write_file_atomically(directory / "new/file", "two").ok());
  CHECK(*io::read_file(directory / "new/file") == "two");
  CHECK(local().list_directory(directory / "new")->size() == 1);
  {
    auto file = value_or_throw(io::AtomicFile::create(directory / "other"));
    REQUIRE(file.append("never finished").ok());
    CHECK_FALSE(*local().exists(directory / "other"));
  }
  CHECK(names_in(directory) == std::vector<std::string>{"new"});
}

TEST_CASE("what is no plain file stays what it is, and of a link the target is replaced",
          "[io][atomic_file]") {
  const TemporaryDirectory directory;
  struct stat info {};
  REQUIRE(io::write_file_atomically("/dev/null", "gone").ok());
  REQUIRE(::stat("/dev/null", &info) == 0);
  CHECK(S_ISCHR(info.st_mode));

  REQUIRE(io::write_file_atomically(directory / "real/file", "old").ok());
  REQUIRE(::symlink("real/file", (directory / "link").c_str()) == 0);
  REQUIRE(::symlink("link", (directory / "link of it").c_str()) == 0);
  REQUIRE(io::write_file_atomically(directory / "link of it", "new").ok());
  CHECK(*io::read_file(directory / "real/file") == "new");
  REQUIRE(::lstat((directory / "link").c_str(), &info) == 0);
  CHECK(S_ISLNK(info.st_mode));
  CHECK(local().list_directory(directory / "real")->size() == 1);

  REQUIRE(::symlink("missing/file", (directory / "hanging").c_str()) == 0);
  REQUIRE(io::write_file_atomically(directory / "hanging", "made").ok());
  CHECK(*io::read_file(directory / "missing/file") == "made");

  REQUIRE(::symlink("loop", (directory / "loop").c_str()) == 0);
  CHECK_FALSE(io::write_file_atomically(directory / "loop", "").ok());
  CHECK(io::write_file_atomically(directory / "real", "").code() ==
        absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a file that replaces another one keeps its rights", "[io][atomic_file]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "private";
  REQUIRE(io::write_file_atomically(path, "old").ok());
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  REQUIRE(io::write_file_atomically(path, "new").ok());
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(*io::read_file(path) == "new");
}

TEST_CASE("a pipe gets all bytes and stays a pipe", "[io][atomic_file]") {
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(io::write_file_atomically(pipe, "through").ok());
  char text[16] = {};
  CHECK(::read(reader, text, sizeof text) == 7);
  CHECK(std::string(text) == "through");
  ::close(reader);
  CHECK(names_in(directory) == std::vector<std::string>{"pipe"});
}

TEST_CASE("a pipe's reader that waits for its writer gets all bytes", "[io][atomic_file]") {
  for (int round = 0; round < 20; ++round) {  // in most of them the reader is the first
    const TemporaryDirectory directory;
    const std::string pipe = directory / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::string got;
    std::thread reader([&] {  // as `cat` does, which stops at the end
      const int descriptor = ::open(pipe.c_str(), O_RDONLY);
      char text[64];
      for (ssize_t count; (count = ::read(descriptor, text, sizeof text)) > 0;)
        got.append(text, size_t(count));
      ::close(descriptor);
    });
    CHECK(io::write_file_atomically(pipe, "through").ok());
    reader.join();
    CHECK(got == "through");
  }
}

TEST_CASE("a full disk leaves the old file and no temporary", "[io][atomic_file]") {
  const TemporaryDirectory directory;
  REQUIRE(io::write_file_atomically(directory / "file", "old").ok());
  {
    const FileSizeLimit limit(10'000);
    const auto status = io::write_file_atomically(directory / "file", std::string(100'000, 'n'));
    CHECK(status.code() == absl::StatusCode::kResourceExhausted);
    CHECK(message(status).find(directory / "file") != std::string::npos);
  }
  CHECK(*io::read_file(directory / "file") == "old");
  CHECK(names_in(directory) == std::vector<std::string>{"file"});
}

TEST_CASE("a program may bring a file system for a scheme of its own, once", "[io][file_system]") {
  MemoryStore& store = MemoryStore::fresh();
  REQUIRE(io::write_file_atomically("mem://b/a", "bytes").ok());
  CHECK(store.names() == std::vector<std::string>{"mem://b/a"});
  const auto again = io::register_file_system("mem", std::make_unique<MemoryStore>());
  CHECK(again.code() == absl::StatusCode::kAlreadyExists);
  for (const char* scheme : {"", "file", "a/b", "mem://"}) {
    CAPTURE(scheme);
    const auto refused = io::register_file_system(scheme, std::make_unique<MemoryStore>());
    CHECK(refused.code() == absl::StatusCode::kInvalidArgument);
  }
  CHECK(io::register_file_system("none", nullptr).code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("on a store an atomic file is written where it belongs, and appears when committed",
          "[io][atomic_file]") {
  MemoryStore& store = MemoryStore::fresh();
  {
    auto file = value_or_throw(io::AtomicFile::create("mem://b/file"));
    REQUIRE(file.append("one").ok());
    REQUIRE(file.prepare().ok());
    CHECK(store.names().empty());
    REQUIRE(file.commit().ok());
    auto other = value_or_throw(io::AtomicFile::create("mem://b/file"));
    REQUIRE(other.append("never finished").ok());
  }
  CHECK(*io::read_file("mem://b/file") == "one");
  CHECK(store.puts() == std::vector<std::string>{"mem://b/file"});
  store.fail_after(1, absl::UnavailableError("the store is down"));
  CHECK(io::write_file_atomically("mem://b/file", "two").code() == absl::StatusCode::kUnavailable);
  CHECK(*io::read_file("mem://b/file") == "one");
}

TEST_CASE("on a store a name may be an object and a directory; removing it takes both",
          "[io][file_system]") {
  MemoryStore& store = MemoryStore::fresh();
  for (const char* path :
       {"mem://b/a", "mem://b/a/x", "mem://b/a/y/z", "mem://b/c/d", "mem://b/ab"})
    REQUIRE(io::write_file_atomically(path, "bytes").ok());
  REQUIRE(io::remove_recursively("mem://b/a").ok());
  REQUIRE(io::remove_recursively("mem://b/c").ok());
  CHECK(store.names() == std::vector<std::string>{"mem://b/ab"});
}

TEST_CASE("a pipe in place of a file is refused, not waited for", "[io][file_system]") {
  const TemporaryDirectory directory;
  const std::string pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message(local().open(pipe).status()) ==
        "cannot read " + pipe + ": it is a pipe, and this needs a file");
  CHECK(io::read_file(pipe).status().code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("links that lead to themselves are an error that says so", "[io][file_system]") {
  const TemporaryDirectory directory;
  const std::string loop = directory / "loop";
  REQUIRE(::symlink("loop", loop.c_str()) == 0);
  for (const absl::Status& status :
       {local().open(loop).status(), local().exists(loop).status(), local().create(loop).status()})
    CHECK(message(status).ends_with("; links lead back to themselves"));
}

TEST_CASE("the bridge throws the exception of the status code", "[base][status]") {
  CHECK_NOTHROW(throw_if_error(absl::OkStatus()));
  CHECK_THROWS_AS(throw_if_error(absl::NotFoundError("x")), NotFoundError);
  CHECK_THROWS_AS(value_or_throw(absl::StatusOr<int>(absl::DataLossError("x"))), DataLossError);
  CHECK(value_or_throw(absl::StatusOr<int>(3)) == 3);
  CHECK(message(annotate(absl::AbortedError("b"), "a")) == "a: b");
}
