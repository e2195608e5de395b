#include <distribute/cluster/detail/clock_offset.hpp>
#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/net/socket.hpp>

#include <tests/cluster/cluster_support.hpp>

#include <chrono>
#include <future>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using distribute::StatusCode;
namespace net = distribute::net;
using distribute::cluster_internal::ControlMessage;
using distribute::cluster_internal::ControlType;

namespace {

/// A worker in a process of its own that joins and then does what it is told: it can be killed and
/// stopped. Made before the test's threads.
class ChildTask {
 public:
  ChildTask(TestJob& job, int rank, const ClusterOptions& options) {
    pid_ = ::fork();
    if (pid_ != 0) {
      job.listeners[size_t(rank)].close();
      return;
    }
    for (int other = 0; other < int(job.listeners.size()); ++other)
      if (other != rank) job.listeners[size_t(other)].close();
    error_of([&] {
      const auto runtime = job.join(rank, options);
      runtime->get("the test never sets this", Deadline::after_seconds(60));
    });
    ::_exit(0);
  }
  ~ChildTask() {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void signal(int number) const { ::kill(pid_, number); }

 private:
  pid_t pid_;
};

struct Verdicts {
  std::vector<std::string> reasons;
  std::vector<int> ranks, calls;
  std::vector<double> seconds;  // since `bad_moment`
  std::vector<std::string> errors;
};

/// Joins `ranks` as threads, does `harm` once all have joined, and collects what each one hears.
Verdicts survivors(TestJob& job, const std::vector<int>& ranks, const ClusterOptions& options,
                   const std::function<void()>& harm) {
  Verdicts all;
  const size_t count = ranks.size();
  all.reasons.resize(count), all.ranks.resize(count, -1), all.calls.resize(count);
  all.seconds.resize(count);
  std::atomic<int> joined{0};
  std::promise<std::chrono::steady_clock::time_point> moment;
  const auto since = moment.get_future().share();
  all.errors = on_ranks(int(count), [&](int i) {
    const auto runtime = job.join(ranks[size_t(i)], options);
    std::atomic<int> calls{0};
    runtime->on_lost([&, i](int rank, const std::string& reason) {
      all.ranks[size_t(i)] = rank;
      all.reasons[size_t(i)] = reason;
      all.seconds[size_t(i)] =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - since.get()).count();
      ++calls;
    });
    if (++joined == int(count)) {
      moment.set_value(std::chrono::steady_clock::now());
      harm();
    }
    const std::string error = error_of([&] { runtime->barrier("pending"); });
    const std::string later = error_of([&] { runtime->set("key", "value"); });
    if (error != later) throw distribute::InternalError(error + " then " + later);
    const auto lost = runtime->lost();
    if (!lost) throw distribute::InternalError("no task is lost");
    runtime->leave();
    all.calls[size_t(i)] = calls;
    distribute::throw_error(lost->code, lost->reason);
  });
  return all;
}

}  // namespace

TEST_CASE("all survivors hear of a killed task, with its name, at once",
          "[cluster][membership][multiproc]") {
  TestJob job(3);
  ChildTask child(job, 1, quick_options());
  const Verdicts all = survivors(job, {0, 2}, quick_options(), [&] { child.signal(SIGKILL); });
  const std::string wanted = "worker 1 (" + job.tasks.members[1].address +
                             ") is lost: it closed its connections: it crashed or was killed";
  for (size_t i = 0; i < 2; ++i) {
    CHECK(all.errors[i] == "UNAVAILABLE: " + wanted);
    CHECK(all.reasons[i] == wanted);
    CHECK(all.ranks[i] == 1);
    CHECK(all.calls[i] == 1);
    CHECK(all.seconds[i] < 1);
  }
}

TEST_CASE("all survivors hear of a killed leader", "[cluster][membership][multiproc]") {
  TestJob job(3);
  ChildTask child(job, 0, quick_options());
  const Verdicts all = survivors(job, {1, 2}, quick_options(), [&] { child.signal(SIGKILL); });
  for (size_t i = 0; i < 2; ++i) {
    CHECK(contains(all.errors[i], "UNAVAILABLE: worker 0 ("));
    CHECK(all.ranks[i] == 0);
    CHECK(all.calls[i] == 1);
    CHECK(all.seconds[i] < 1);
  }
}

TEST_CASE("all survivors hear of a frozen task within the limit",
          "[cluster][membership][multiproc]") {
  const int frozen = GENERATE(0, 1);
  TestJob job(3);
  ClusterOptions options = quick_options();
  options.lost_after = 0.4;
  ChildTask child(job, frozen, options);
  std::vector<int> others;
  for (int rank = 0; rank < 3; ++rank)
    if (rank != frozen) others.push_back(rank);
  const Verdicts all = survivors(job, others, options, [&] { child.signal(SIGSTOP); });
  for (size_t i = 0; i < 2; ++i) {
    CHECK(contains(all.errors[i], "UNAVAILABLE: worker " + std::to_string(frozen) + " ("));
    CHECK(contains(all.errors[i], "silent for 0.4 s"));
    CHECK(all.ranks[i] == frozen);
    CHECK(all.calls[i] == 1);
    CHECK(all.seconds[i] > 0.2);
    CHECK(all.seconds[i] < 3);  // 0.45, on a machine with nothing else to do
  }
}

TEST_CASE("a reported error is thrown on every rank with its origin", "[cluster][membership]") {
  const int origin = GENERATE(0, 2);
  TestJob job(3);
  const auto errors = on_ranks(3, [&](int rank) {
    const auto runtime = job.join(rank, quick_options());
    if (rank == origin) runtime->report_error(StatusCode::DataLoss, "bad record");
    runtime->barrier("pending");
  });
  for (const std::string& error : errors)
    CHECK(error ==
          "DATA_LOSS: " + job.tasks.members[size_t(origin)].text() + " failed: bad record");
}

TEST_CASE("a task that an exception ends does not keep the others waiting",
          "[cluster][membership]") {
  TestJob job(3);
  const auto errors = on_ranks(3, [&](int rank) {
    const auto runtime = job.join(rank, quick_options());
    if (rank == 1) throw distribute::NotFoundError("no such file");
    runtime->barrier("pending");
  });
  CHECK(errors[1] == "NOT_FOUND: no such file");
  for (const size_t rank : {size_t(0), size_t(2)})
    CHECK(errors[rank] ==
          "ABORTED: " + job.tasks.members[1].text() + " failed: it ended with an exception");
}

TEST_CASE("a callback that comes after the loss is called at once, a removed one never",
          "[cluster][membership]") {
  TestJob job(2);
  const auto errors = on_ranks(2, [&](int rank) {
    const auto runtime = job.join(rank, quick_options());
    bool removed_was_called = false;
    runtime->remove_on_lost(
        runtime->on_lost([&](int, const std::string&) { removed_was_called = true; }));
    runtime->barrier("nothing has happened yet");
    std::promise<void> first;
    runtime->on_lost([&](int, const std::string&) { first.set_value(); });
    if (rank == 1) runtime->report_error(StatusCode::Internal, "x");
    first.get_future().wait();
    int late = -1;
    runtime->on_lost([&](int lost, const std::string&) { late = lost; });
    if (late != 1 || removed_was_called) throw distribute::InternalError("callbacks");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("leaving does not wait for ever for a rank that does not leave",
          "[cluster][membership]") {
  const int stays = GENERATE(0, 1);
  TestJob job(3);
  LogLines lines;
  ClusterOptions options = quick_options();
  options.shutdown_timeout = 0.2;
  options.log = lines.sink();
  std::atomic<int> gone{0};
  const auto errors = on_ranks(3, [&](int rank) {
    const auto runtime = job.join(rank, options);
    if (rank != stays) {
      runtime->leave();
      ++gone;
      return;
    }
    const Deadline deadline = Deadline::after_seconds(10);
    while (gone < 2 && !deadline.passed()) std::this_thread::yield();
    // Without the leader there is no job; a member that has left is no loss.
    if (stays == 0 && runtime->lost()) throw distribute::InternalError(runtime->lost()->reason);
    if (stays == 1 && !runtime->wait_lost(Deadline::after_seconds(10)))
      throw distribute::InternalError("the leader has left unnoticed");
    const std::string error = error_of([&] { runtime->barrier("alone"); });
    if (!contains(error, stays == 0 ? "has left the job" : "has finished and left"))
      throw distribute::InternalError(error);
  });
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(gone == 2);
  CHECK(contains(lines.text(), "leaves after waiting 0.2 s"));
}

TEST_CASE("after leaving, calls say so", "[cluster][membership]") {
  const auto errors = run_job(2, [](ClusterRuntime& runtime) {
    runtime.leave();
    const std::string error = error_of([&] { runtime.barrier("late"); });
    if (!contains(error, "FAILED_PRECONDITION: this task has left the job"))
      throw distribute::InternalError(error);
    runtime.report_error(StatusCode::Internal, "too late");
    if (runtime.lost()) throw distribute::InternalError("lost");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("a member that breaks the protocol is lost, the leader is not", "[cluster][membership]") {
  TestJob job(2);
  const auto errors = on_ranks(2, [&](int rank) {
    if (rank == 0) {
      const auto runtime = job.join(0, quick_options());
      runtime->barrier("pending");
    } else {
      const auto tasks = job.tasks;
      net::HandshakeConfig config{.self = {"worker", 1, 77},
                                  .job = distribute::job_fingerprint(tasks),
                                  .token = quick_options().job_token,
                                  .tls = make_tls(quick_options(), "worker 1")};
      auto socket = distribute::value_or_throw(net::connect_patiently(
          distribute::value_or_throw(net::parse_address(tasks.members[0].address)),
          Deadline::after_seconds(10)));
      net::HandshakeHello hello;
      hello.server_type = "worker";
      hello.purpose = "member";
      const auto deadline = Deadline::after_seconds(10);
      distribute::value_or_throw(net::handshake(socket, config, hello, deadline));
      std::string bytes = ControlMessage{.type = ControlType::Join, .name = "127.0.0.1:1"}.encode();
      bytes += net::encode_frame(uint16_t(ControlType::Set), "not a message");
      distribute::throw_if_error(socket.write(std::as_bytes(std::span(bytes)), deadline));
      std::byte byte;
      while (socket.read({&byte, 1}, deadline).ok()) continue;
    }
  });
  CHECK(contains(errors[0], "worker 1"));
  CHECK(contains(errors[0], "is lost: protocol error: a damaged message"));
}

TEST_CASE("the clock's offset comes from the shortest round trip", "[cluster][membership]") {
  distribute::ClockOffset clock;
  CHECK(clock.offset() == 0);
  clock.add(1000, 50'600, 50'700, 1900);        // 800 ns on the way, one way slower
  clock.add(3000, 52'000 + 150, 52'250, 3300);  // 200 ns on the way
  clock.add(5000, 59'000, 59'001, 9000);
  CHECK(clock.offset() == 49'050);
}

TEST_CASE("a task that is frozen before the job starts loses its place to one that comes for it",
          "[cluster][membership][multiproc]") {
  const bool at_once = GENERATE(true, false);
  CAPTURE(at_once);
  TestJob job(3);
  ClusterOptions options = quick_options();
  options.lost_after = 0.4;
  LogLines lines;
  ChildTask frozen(job, 1, options);
  options.log = lines.sink();
  const auto errors = on_ranks(3, [&](int i) {
    if (i == 0) return void(job.join(0, options)->barrier("end"));
    // The place is taken once the leader waits for worker 2 alone.
    if (!lines.waits_for("waits for 1 of 3: worker 2")) return;
    if (i == 1) frozen.signal(SIGSTOP);
    if (!(i == 1 && at_once) && !lines.waits_for("was silent for 0.4 s")) return;
    if (i == 2) {
      lines.waits_for("waits for 2 of 3: worker 1");  // which it has given up
      return void(job.join(2, options)->barrier("end"));
    }
    ClusterTasks mine = job.tasks;
    mine.rank = 1;
    ClusterRuntime::join(mine, options, local_listener())->barrier("end");
  });
  for (const std::string& error : errors) CHECK(error == "");
  INFO(lines.text());
  CHECK(contains(lines.text(), "worker 1 ("));
}
