#include <distribute/launch/detail/outputs.hpp>
#include <distribute/launch/process.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

using distribute::launch::Descriptor;
using distribute::launch_internal::OutputQueue;

namespace {

struct PipeWithQueue {
  PipeWithQueue() {
    ::signal(SIGPIPE, SIG_IGN);  // a thread may still write when the reader goes
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reader = Descriptor(ends[0]);
    writer = Descriptor(ends[1]);
    queue = std::make_unique<OutputQueue>("stdout", writer.native(), changed);
  }
  /// Blocks until the thread has said that there is room, or that all is written.
  void wait_for_change() {
    pollfd entry{changed->native(), POLLIN, 0};
    REQUIRE(::poll(&entry, 1, 60'000) == 1);
    uint64_t number = 0;
    REQUIRE(::read(changed->native(), &number, sizeof(number)) == sizeof(number));
  }
  std::string read(size_t bytes) {
    std::string text(bytes, '\0');
    size_t got = 0;
    while (got < bytes) {
      const ssize_t more = ::read(reader.native(), text.data() + got, bytes - got);
      REQUIRE(more > 0);
      got += size_t(more);
    }
    return text;
  }

  Descriptor reader, writer;
  std::shared_ptr<Descriptor> changed =
      std::make_shared<Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  std::unique_ptr<OutputQueue> queue;
};

}  // namespace

TEST_CASE("a full output says so until its reader has read, and loses nothing",
          "[launch][outputs]") {
  PipeWithQueue pipe;
  const std::string block(OutputQueue::kMostBytes, 'a');
  CHECK(pipe.queue->has_room());
  pipe.queue->add(block);
  pipe.queue->add(block);
  CHECK_FALSE(pipe.queue->has_room());
  const std::string first = pipe.read(block.size() + (size_t{1} << 17));
  pipe.wait_for_change();
  CHECK(pipe.queue->has_room());
  CHECK(first + pipe.read(2 * block.size() - first.size()) == block + block);
  while (pipe.queue->waiting_bytes() > 0) pipe.wait_for_change();
  CHECK(pipe.queue->lost() == "");
  CHECK_FALSE(pipe.queue->has_failed());
}

TEST_CASE("a full output loses what it is told to, and counts it", "[launch][outputs]") {
  PipeWithQueue pipe;
  pipe.queue->lose_when_full(true);
  const std::string block(OutputQueue::kMostBytes + (size_t{1} << 17), 'a');
  pipe.queue->add(block);
  CHECK(pipe.queue->has_room());
  pipe.queue->add(std::string(1000, 'b'));
  CHECK(pipe.queue->lost() == "1000 bytes of stdout (its reader does not read)");
  pipe.queue->lose_when_full(false);
  pipe.queue->add("end");
  CHECK(pipe.read(block.size() + 3) == block + "end");
  while (pipe.queue->waiting_bytes() > 0) pipe.wait_for_change();  // the reader may know before
  pipe.queue->give_up();
  pipe.queue->add("too late");
  CHECK(pipe.queue->lost() == "1008 bytes of stdout (its reader does not read)");
  CHECK(pipe.queue->has_failed());
}

TEST_CASE("giving up counts what the reader has not taken", "[launch][outputs]") {
  PipeWithQueue pipe;
  const std::string block(OutputQueue::kMostBytes, 'a');
  pipe.queue->add(block);
  const size_t held = size_t(::fcntl(pipe.reader.native(), F_GETPIPE_SZ));
  const auto deadline = distribute::net::Deadline::after_seconds(60);
  while (pipe.queue->waiting_bytes() != block.size() - held && !deadline.passed()) ::usleep(1000);
  pipe.queue->give_up();
  CHECK(pipe.queue->waiting_bytes() == 0);
  CHECK(pipe.queue->lost() ==
        std::to_string(block.size() - held) + " bytes of stdout (its reader does not read)");
}

TEST_CASE("an output whose reader has gone counts what it loses, and has not failed",
          "[launch][outputs]") {
  PipeWithQueue pipe;
  pipe.reader.close();
  pipe.queue->add("12345");
  pipe.wait_for_change();
  CHECK(pipe.queue->lost() == "5 bytes of stdout (Broken pipe)");
  CHECK_FALSE(pipe.queue->has_failed());
}

TEST_CASE("a regular file has what was added at once", "[launch][outputs]") {
  const TemporaryDirectory directory;
  const auto changed = std::make_shared<Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::string path = directory / "log";
  OutputQueue queue(path, changed);
  queue.add("one\n");
  CHECK(file_text(path) == "one\n");
  CHECK(queue.has_room());
  check_throws<distribute::UnavailableError>([&] { OutputQueue(directory / "none/log", changed); },
                                             directory / "none/log");
}
