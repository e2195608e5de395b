#include <distribute/base/config.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/net/socket.hpp>

#include <tests/cluster/cluster_support.hpp>

#include <cstdlib>
#include <future>

#include <poll.h>

namespace net = distribute::net;
using distribute::InternalError;
using distribute::throw_if_error;
using distribute::value_or_throw;

namespace {

/// A running job of two tasks; run() does its work beside what a test throws at it.
class RunningJob {
 public:
  explicit RunningJob(ClusterOptions options = quick_options()) : job_(2) {
    options.log = lines.sink();
    std::promise<void> running;
    errors_ = std::async(std::launch::async, [this, options, &running] {
      return on_ranks(2, [&, options](int rank) {
        const auto runtime = job_.join(rank, options);
        if (rank == 0) running.set_value();
        for (int i = 0;; ++i) {
          net::Socket to_peer;
          if (i % 10 == 0) to_peer = runtime->peer_socket(1 - rank, "data", 0);
          runtime->barrier("step");
          // All ranks must see the same end.
          const auto all = runtime->all_gather("stop", stop_ ? "1" : "0");
          if (all[0] == "1" && i >= 10) break;
        }
        if (runtime->lost()) throw InternalError(runtime->lost()->reason);
      });
    });
    running.get_future().wait();
  }
  /// What went wrong on the ranks.
  std::vector<std::string> finish() {
    stop_ = true;
    return errors_.get();
  }
  net::Address address(int rank) const {
    return value_or_throw(net::parse_address(job_.tasks.members[size_t(rank)].address));
  }
  const ClusterTasks& tasks() const { return job_.tasks; }
  net::Socket connect(int rank) const {
    return value_or_throw(net::connect(address(rank), Deadline::after_seconds(5)));
  }

  LogLines lines;

 private:
  TestJob job_;
  std::atomic<bool> stop_{false};
  std::future<std::vector<std::string>> errors_;
};

void check_unharmed(RunningJob& job) {
  for (const std::string& error : job.finish()) CHECK(error == "");
}

/// Everything that the other side says until it closes.
std::string read_all(net::Socket& socket) {
  std::string text(1, '\0');
  std::string all;
  while (socket.read(std::as_writable_bytes(std::span(text)), Deadline::after_seconds(10)).ok())
    all += text;
  return all;
}

std::string refusal_in(const std::string& bytes) {
  if (bytes.size() < net::kFrameHeaderBytes) return "";
  return net::parse_refusal(std::string_view(bytes).substr(net::kFrameHeaderBytes)).ToString();
}

void send(net::Socket& socket, std::string_view bytes) {
  throw_if_error(socket.write(std::as_bytes(std::span(bytes)), Deadline::after_seconds(5)));
}

/// A second process that claims to be a task of the running job.
std::string join_error(const ClusterTasks& tasks, int rank, ClusterOptions options) {
  ClusterTasks mine = tasks;
  mine.rank = rank;
  options.startup_timeout = 10;
  return error_of([&] { ClusterRuntime::join(mine, options, local_listener()); });
}

}  // namespace

TEST_CASE("garbage bytes are refused and do not harm the job", "[cluster][task_server]") {
  RunningJob job;
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n"),
        "\x16\x03\x01" + std::string(60, '\0'), std::string(100'000, 'x')}) {
    net::Socket socket = job.connect(0);
    send(socket, garbage);
    CHECK(contains(refusal_in(read_all(socket)), "not a message of this library"));
  }
  CHECK(job.lines.waits_for("worker 0 refused 127.0.0.1:"));
  check_unharmed(job);
}

TEST_CASE("an oversized frame is refused before it is read", "[cluster][task_server]") {
  RunningJob job;
  net::Socket socket = job.connect(1);
  const std::string header =
      net::encode_frame(1, std::string(net::kHandshakeFrameBytes + 1, 'x')).substr(0, 16);
  send(socket, header);
  CHECK(contains(refusal_in(read_all(socket)), "a message of 4097 bytes where at most 4096"));
  check_unharmed(job);
}

TEST_CASE("another protocol version is refused with both versions", "[cluster][task_server]") {
  RunningJob job;
  net::HandshakeConfig config{.self = {"worker", 1, 5},
                              .job = distribute::job_fingerprint(job.tasks()),
                              .token = "",
                              .version = 9};
  net::HandshakeHello hello;
  hello.server_type = "worker";
  hello.purpose = "member";
  net::Socket socket = job.connect(0);
  const auto answer = net::handshake(socket, config, hello, Deadline::after_seconds(5));
  CHECK(answer.status().code() == absl::StatusCode::kFailedPrecondition);
  const std::string build = std::string("worker 0 runs distribute ") + distribute::kVersion;
  const std::string why = build +
                          " with protocol version 2 and was asked in version 9: run the "
                          "same build in all tasks";
  CHECK(contains(answer.status().ToString(), "worker 0 at "));
  CHECK(contains(answer.status().ToString(), "this task, worker 1: " + why));
  CHECK(job.lines.waits_for(why));
  check_unharmed(job);
}

TEST_CASE("a hundred half-open connections do not hinder the job", "[cluster][task_server]") {
  ClusterOptions options = quick_options();
  options.max_unauthenticated = 16;
  RunningJob job(options);
  std::vector<net::Socket> strangers;
  for (int i = 0; i < 100; ++i) {
    strangers.push_back(job.connect(i % 2));
    if (i % 3 == 0) send(strangers.back(), "DST");  // some begin to speak
  }
  // The oldest are pushed out long before their time is over; the job goes on connecting.
  const std::string said = read_all(strangers[0]);
  CHECK(said == "");
  CHECK(job.lines.waits_for("too many connections at a time"));
  check_unharmed(job);
}

TEST_CASE("a connection that stays silent is closed after the handshake's time",
          "[cluster][task_server]") {
  ClusterOptions options = quick_options();
  options.handshake_timeout = 0.2;
  RunningJob job(options);
  net::Socket silent = job.connect(0);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(read_all(silent) == "");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(job.lines.waits_for("has not proved to belong to the job in time"));
  check_unharmed(job);
}

TEST_CASE("a second process with the same identity is refused and names the first",
          "[cluster][task_server]") {
  RunningJob job;
  const std::string error = join_error(job.tasks(), 1, quick_options());
  CHECK(contains(error, "FAILED_PRECONDITION"));
  CHECK(contains(error, "worker 1 is in the job already, from worker 1 at 127.0.0.1:"));
  CHECK(contains(error, "with incarnation "));
  CHECK(job.lines.waits_for("two processes were started as the same task"));
  check_unharmed(job);
}

TEST_CASE("two processes with one identity that start together: one is refused",
          "[cluster][task_server]") {
  TestJob job(2);
  std::atomic<int> refused{0};
  std::promise<void> known;
  const auto errors = on_ranks(3, [&](int i) {
    if (i == 0) {
      job.join(0, quick_options())->barrier("end");
      return;
    }
    ClusterTasks mine = job.tasks;
    mine.rank = 1;
    std::shared_ptr<ClusterRuntime> runtime;
    const std::string error =
        error_of([&] { runtime = ClusterRuntime::join(mine, quick_options(), local_listener()); });
    if (!runtime) {
      ++refused;
      if (!contains(error, "in the job already")) throw InternalError(error);
      known.set_value();
      return;
    }
    known.get_future().wait_for(std::chrono::seconds(10));
    runtime->barrier("end");
  });
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(refused == 1);
}

TEST_CASE("a task with a wrong token, or none, is refused on both sides",
          "[cluster][task_server]") {
  ClusterOptions options = quick_options();
  options.job_token = "a token of this job";
  RunningJob job(options);
  ClusterOptions wrong = quick_options();
  wrong.job_token = "another job's token";
  const std::string error = join_error(job.tasks(), 1, wrong);
  CHECK(contains(error, "UNAUTHENTICATED"));
  CHECK(contains(error, "does not know the token of this job"));
  CHECK(job.lines.waits_for("does not know the token of this job"));
  const std::string none = join_error(job.tasks(), 1, quick_options());
  CHECK(contains(none, "UNAUTHENTICATED"));
  CHECK(contains(none, "worker 1 has none: set DISTRIBUTE_JOB_TOKEN"));
  check_unharmed(job);
  RunningJob open;
  CHECK(contains(join_error(open.tasks(), 1, wrong),
                 "has a job token and this task has none: set DISTRIBUTE_JOB_TOKEN"));
  check_unharmed(open);
}

TEST_CASE("a leader without the token learns nothing and is not believed",
          "[cluster][task_server]") {
  // The impostor answers as a server that has another token would, but accepts every client.
  net::Listener listener = local_listener();
  ClusterTasks tasks{{{"worker", 0, listener.address().text()}, {"worker", 1, "127.0.0.1:1"}}, 1};
  std::thread impostor([&] {
    auto socket = value_or_throw(listener.accept(Deadline::after_seconds(10)));
    const auto deadline = Deadline::after_seconds(10);
    value_or_throw(net::read_frame(socket, 4096, deadline));
    const net::HandshakeChallenge challenge{std::string(32, 'n')};
    throw_if_error(net::write_frame(socket, uint16_t(net::HandshakeFrame::Challenge),
                                    net::encode_message(challenge), deadline));
    value_or_throw(net::read_frame(socket, 4096, deadline));
    const net::HandshakeWelcome welcome{1, std::string(32, 'p')};
    throw_if_error(net::write_frame(socket, uint16_t(net::HandshakeFrame::Welcome),
                                    net::encode_message(welcome), deadline));
    read_all(socket);
  });
  ClusterOptions options = quick_options();
  options.job_token = "a token of this job";
  const std::string error =
      error_of([&] { ClusterRuntime::join(tasks, options, local_listener()); });
  impostor.join();
  CHECK(contains(error, "UNAUTHENTICATED"));
  CHECK(contains(error, "the other side does not know the token of this job"));
}

TEST_CASE("a task of another job is refused on both sides", "[cluster][task_server]") {
  RunningJob job;
  ClusterTasks other = job.tasks();
  other.members.push_back({"worker", 2, "127.0.0.1:9"});
  const std::string error = join_error(other, 2, quick_options());
  CHECK(contains(error, "FAILED_PRECONDITION"));
  CHECK(contains(error,
                 "belongs to another job or another cluster description: here 2 tasks led by "
                 "worker 0"));
  CHECK(contains(error, "there 3 tasks"));
  CHECK(job.lines.waits_for("worker 2 at 127.0.0.1:"));
  check_unharmed(job);
}

TEST_CASE("a token is needed outside the loopback interface", "[cluster][task_server]") {
  ClusterTasks tasks{{{"worker", 0, "127.0.0.1:2"}, {"worker", 1, "127.0.0.1:1"}}, 0};
  ClusterOptions options = quick_options();
  options.bind_address = "0.0.0.0:0";
  options.startup_timeout = 0.1;
  const std::string error = error_of([&] { ClusterRuntime::join(tasks, options); });
  CHECK(contains(error, "FAILED_PRECONDITION"));
  CHECK(contains(error, "without a job token tasks may only use loopback addresses"));
  CHECK(contains(error, "DISTRIBUTE_JOB_TOKEN"));
  // Allowed in words, or with a token, it goes on to wait for the other task.
  options.insecure = true;
  CHECK(contains(error_of([&] { ClusterRuntime::join(tasks, options); }), "could not start"));
  options.insecure = false;
  options.job_token = "a token of this job";
  CHECK(contains(error_of([&] { ClusterRuntime::join(tasks, options); }), "could not start"));
}

TEST_CASE("a taken port is an error that names it and the cure", "[cluster][task_server]") {
  const net::Listener taken = local_listener();
  ClusterTasks tasks{{{"worker", 0, taken.address().text()}, {"worker", 1, "127.0.0.1:1"}}, 0};
  const std::string error = error_of([&] { ClusterRuntime::join(tasks, quick_options()); });
  CHECK(
      contains(error, "FAILED_PRECONDITION: worker 0: cannot listen on " + taken.address().text()));
  CHECK(contains(error, "port " + std::to_string(taken.address().port)));
  CHECK(contains(error, "another process"));
}

TEST_CASE("the token does not appear in what travels", "[cluster][task_server]") {
  const std::string token = "correct horse battery staple";
  TestJob job(2);
  const net::Address real = job.listeners[0].address();
  const net::Listener unused = local_listener();
  net::Listener front = local_listener();
  job.tasks.members[0].address = front.address().text();
  std::string recorded;
  // A relay between the member and the leader writes down everything.
  std::thread relay([&] {
    auto member = value_or_throw(front.accept(Deadline::after_seconds(10)));
    auto leader = value_or_throw(net::connect(real, Deadline::after_seconds(10)));
    std::string buffer(4096, '\0');
    for (bool open = true; open;) {
      pollfd both[] = {{member.native(), POLLIN, 0}, {leader.native(), POLLIN, 0}};
      ::poll(both, 2, 10'000);
      for (auto [from, to] : {std::pair(&member, &leader), std::pair(&leader, &member)}) {
        const auto got = from->read_some(std::as_writable_bytes(std::span(buffer)));
        open = open && got.ok();
        if (!open || *got == 0) continue;
        recorded.append(buffer, 0, *got);
        open = to->write(std::as_bytes(std::span(buffer).first(*got)), Deadline::after_seconds(5))
                   .ok();
      }
    }
  });
  ClusterOptions options = quick_options();
  options.job_token = token;
  const auto errors = on_ranks(2, [&](int rank) {
    const auto runtime = job.join(rank, options);
    runtime->set("visible" + std::to_string(rank), "value");
    runtime->barrier("end");
  });
  relay.join();
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(contains(recorded, "visible1"));
  CHECK_FALSE(contains(recorded, token));
  CHECK_FALSE(contains(recorded, token.substr(0, 8)));
}

TEST_CASE("further purposes can be served and stopped on the same port", "[cluster][task_server]") {
  TestJob job(2);
  LogLines lines;
  const auto errors = on_ranks(2, [&](int rank) {
    ClusterOptions options = quick_options();
    options.log = lines.sink();
    const auto runtime = job.join(rank, options);
    const auto ask = [&] {
      net::HandshakeHello hello;
      hello.server_type = "worker";
      hello.purpose = "rpc";
      hello.detail = "hello";
      const auto address = value_or_throw(net::parse_address(runtime->member(0).address));
      auto socket = value_or_throw(net::connect(address, Deadline::after_seconds(5)));
      const auto answer =
          net::handshake(socket, runtime->server().config(), hello, Deadline::after_seconds(5));
      throw_if_error(answer.status());
    };
    if (rank == 1) {
      if (!contains(error_of(ask), "NOT_FOUND") ||
          !contains(error_of(ask), "worker 0 does not serve \"rpc\" now"))
        throw InternalError(error_of(ask));  // in the answer to who asks; no line, as it asks again
      runtime->barrier("asked");
      runtime->barrier("served");
      ask();
      runtime->barrier("used");
      runtime->barrier("stopped");
      if (error_of(ask).empty()) throw InternalError("still served");
    } else {
      std::atomic<int> served{0};
      runtime->barrier("asked");
      runtime->server().serve("rpc", [&](distribute::TaskConnection connection) {
        if (connection.hello.client.index == 1 && connection.hello.detail == "hello") ++served;
      });
      runtime->barrier("served");
      runtime->barrier("used");
      // The client knows that it is accepted a moment before the handler runs.
      const Deadline deadline = Deadline::after_seconds(10);
      while (served == 0 && !deadline.passed()) std::this_thread::yield();
      runtime->server().stop_serving("rpc");
      if (served != 1) throw InternalError("served " + std::to_string(served));
      runtime->barrier("stopped");
    }
  });
  for (const std::string& error : errors) CHECK(error == "");
  CHECK_FALSE(contains(lines.text(), "refused"));
  const auto alone = run_job(1, [](ClusterRuntime&) {});
  CHECK(alone[0] == "");
}
