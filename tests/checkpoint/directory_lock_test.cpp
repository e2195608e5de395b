#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/detail/directory_lock.hpp>

#include <tests/checkpoint/module_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using Catch::Matchers::Contains;
using checkpoint_internal::DirectoryLock;
using checkpoint_test::error_of;

namespace {

/// Another process that holds the lock until it is killed.
class Owner {
 public:
  explicit Owner(const std::string& directory, const char* tf_config = "") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("TF_CONFIG", tf_config, 1);
      DirectoryLock lock(directory);
      lock.hold();
      (void)!::write(ends[1], "", 1);
      for (;;) ::pause();
    }
    char byte;
    CHECK(::read(ends[0], &byte, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Owner() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("the second job in a directory is refused with the first one's process and host",
          "[checkpoint][directory_lock][multiproc]") {
  const TemporaryDirectory directory;
  Owner owner(directory.path());
  checkpoint_test::Node node;
  node.add("v", Tensor(int64_t{0}));
  train::Checkpoint checkpoint(node);
  train::CheckpointManager manager(checkpoint, {.directory = directory.path()});
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  CHECK_THAT(error_of<FailedPreconditionError>([&] { manager.save(); }),
             Contains("another job writes its checkpoints into " + directory.path()) &&
                 Contains(str_cat("process ", owner.pid(), " on ", host)));
  owner.kill();  // leaves no lock that is stuck
  CHECK(manager.save().has_value());
  CHECK(manager.restore_latest().has_value());
}

TEST_CASE("managers of one process, and processes of one job, share a directory",
          "[checkpoint][directory_lock][multiproc]") {
  const TemporaryDirectory directory;
  const char* config =
      R"({"task": {"type": "worker", "index": 0}, "cluster": {"worker": ["a:1"]}})";
  const char* other = R"({"task": {"type": "worker", "index": 1}, "cluster": {"worker": ["a:1"]}})";
  const Owner owner(directory.path(), config);
  DirectoryLock own(directory.path());
  CHECK_THROWS_AS(own.hold(), FailedPreconditionError);
  ::setenv("TF_CONFIG", other, 1);
  own.hold();
  ::unsetenv("TF_CONFIG");

  const TemporaryDirectory second;
  {
    DirectoryLock first_manager(second.path()), second_manager(second.path() + "/.");
    first_manager.hold();
    second_manager.hold();
    CHECK_FALSE(std::filesystem::is_empty(second.path()));
  }
  CHECK(std::filesystem::is_empty(second.path()));
}

TEST_CASE("a program that ends by exit or quick_exit leaves no file of its lock",
          "[checkpoint][directory_lock][multiproc]") {
  const bool quick = GENERATE(false, true);
  const TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDOUT_FILENO);
    static DirectoryLock* const lock = new DirectoryLock(directory.path());  // never destroyed
    lock->hold();
    const int status = std::filesystem::is_empty(directory.path()) ? 1 : 0;
    quick ? std::quick_exit(status) : std::exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a directory without rights or locks is left to what is written there",
          "[checkpoint][directory_lock]") {
  DirectoryLock("/proc/no/such/directory").hold();
  DirectoryLock("ram://anywhere").hold();
}
