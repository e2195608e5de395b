#include <tests/cluster/cluster_support.hpp>

using distribute::StatusCode;

TEST_CASE("tasks join, gather, use the store and leave", "[cluster][cluster_runtime]") {
  const int count = GENERATE(1, 2, 3, 5);
  const auto errors = run_job(count, [&](ClusterRuntime& runtime) {
    const int rank = runtime.rank();
    if (runtime.size() != count) throw distribute::InternalError("size");
    runtime.barrier("start");
    const auto all = runtime.all_gather("names", "rank" + std::to_string(rank));
    for (int i = 0; i < count; ++i)
      if (all.at(size_t(i)) != "rank" + std::to_string(i))
        throw distribute::InternalError(all[size_t(i)]);
    if (rank == count - 1) runtime.set("key", std::string("a\0b", 3));
    if (runtime.get("key") != std::string("a\0b", 3)) throw distribute::InternalError("store");
    for (int i = 0; i < 20; ++i) runtime.barrier("again and again");
    for (const int host : runtime.hosts())
      if (host != 0) throw distribute::InternalError("hosts");
    if (runtime.lost()) throw distribute::InternalError("lost");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("a get waits until the key is set", "[cluster][cluster_runtime]") {
  const auto errors = run_job(3, [](ClusterRuntime& runtime) {
    if (runtime.rank() == 1) {
      runtime.get("go");
      runtime.set("late", "value");
    } else {
      if (runtime.rank() == 0) runtime.set("go", "");
      if (runtime.get("late") != "value") throw distribute::InternalError("value");
    }
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("waits end at their deadline and name the missing", "[cluster][cluster_runtime]") {
  const auto errors = run_job(3, [](ClusterRuntime& runtime) {
    const std::string got = error_of([&] { runtime.get("never", Deadline::after_seconds(0.05)); });
    if (!contains(got, "DEADLINE_EXCEEDED: get \"never\": store: no task has set \"never\""))
      throw distribute::InternalError(got);
    if (runtime.rank() != 2) {
      const std::string late =
          error_of([&] { runtime.barrier("epoch", Deadline::after_seconds(0.2)); });
      if (!contains(late, "DEADLINE_EXCEEDED") || !contains(late, "\"barrier epoch\"") ||
          !contains(late, runtime.describe(2)))
        throw distribute::InternalError(late);
    }
    runtime.barrier("after");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("agree passes equal descriptions and shows the first difference on all ranks",
          "[cluster][cluster_runtime]") {
  const auto errors = run_job(3, [](ClusterRuntime& runtime) {
    runtime.agree("options", R"({"a": 1, "b": [1, 2]})");
    runtime.agree("options", R"({"b":[1,2],"a":1})");
    const std::string shape = runtime.rank() == 2 ? "[5,5]" : "[3,3]";
    const std::string error = error_of([&] {
      runtime.agree("variables",
                    R"([{"name":"a/b","shape":[1]},{"name":"c","shape":)" + shape + "}]");
    });
    const std::string wanted =
        "FAILED_PRECONDITION: the tasks do not agree on variables: /1/shape "
        "differs: [3,3] in " +
        runtime.describe(0) + ", " + runtime.describe(1) + "; [5,5] in " + runtime.describe(2);
    if (error != wanted) throw distribute::InternalError(error);
    const std::string no_json = error_of([&] { runtime.agree("x", "{"); });
    if (!contains(no_json, "INVALID_ARGUMENT")) throw distribute::InternalError(no_json);
    runtime.barrier("still works");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("peer sockets connect every pair, several times", "[cluster][cluster_runtime]") {
  const auto errors = run_job(3, [](ClusterRuntime& runtime) {
    const int rank = runtime.rank();
    for (int round = 0; round < 2; ++round)
      for (int peer = 0; peer < 3; ++peer) {
        if (peer == rank) continue;
        for (int index = 0; index < 2; ++index) {
          auto socket = runtime.peer_socket(peer, "grad", index);
          const auto deadline = Deadline::after_seconds(10);
          const char mine[2] = {char(rank), char(index)};
          char theirs[2] = {};
          distribute::throw_if_error(socket.write(std::as_bytes(std::span(mine)), deadline));
          distribute::throw_if_error(
              socket.read(std::as_writable_bytes(std::span(theirs)), deadline));
          if (theirs[0] != peer || theirs[1] != index) throw distribute::InternalError("bytes");
          if (socket.peer() != runtime.describe(peer))
            throw distribute::InternalError(socket.peer());
        }
      }
    const std::string self = error_of([&] { runtime.peer_socket(rank, "grad", 0); });
    if (!contains(self, "INVALID_ARGUMENT")) throw distribute::InternalError(self);
    runtime.barrier("sockets done");
    if (rank == 0) {
      const std::string late =
          error_of([&] { runtime.peer_socket(1, "x", 7, Deadline::after_seconds(0.05)); });
      if (!contains(late, "DEADLINE_EXCEEDED") || !contains(late, runtime.describe(1)))
        throw distribute::InternalError(late);
    }
    runtime.barrier("end");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("only the leader's address needs to be known", "[cluster][cluster_runtime]") {
  TestJob job(3);
  for (int rank = 1; rank < 3; ++rank) {
    job.tasks.members[size_t(rank)].address.clear();
    job.listeners[size_t(rank)].close();
  }
  const auto errors = on_ranks(3, [&](int rank) {
    const auto runtime = job.join(rank, quick_options());
    for (int peer = 0; peer < 3; ++peer)
      if (!contains(runtime->member(peer).address, "127.0.0.1:"))
        throw distribute::InternalError(runtime->member(peer).address);
    std::vector<distribute::net::Socket> sockets;
    for (int peer = 0; peer < 3; ++peer)
      if (peer != rank) sockets.push_back(runtime->peer_socket(peer, "data", 0));
    runtime->barrier("end");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("late starters are awaited, and the leader says who is missing",
          "[cluster][cluster_runtime]") {
  TestJob job(3);
  LogLines lines;
  ClusterOptions options = quick_options();
  options.log = lines.sink();
  const auto errors = on_ranks(3, [&](int rank) {
    if (rank == 2 && !lines.waits_for("waits for 1 of 3: worker 2 ("))
      throw distribute::InternalError(lines.text());
    job.join(rank, options)->barrier("all here");
  });
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(contains(lines.text(), "worker 2 (" + job.tasks.members[2].address + ")"));
}

TEST_CASE("members wait for a leader that starts late", "[cluster][cluster_runtime]") {
  TestJob job(2);
  const auto leader = job.listeners[0].address();
  job.listeners[0].close();
  LogLines lines;
  ClusterOptions options = quick_options();
  options.log = lines.sink();
  const auto errors = on_ranks(2, [&](int rank) {
    if (rank == 0 && !lines.waits_for("worker 1 waits for the leader, worker 0 ("))
      throw distribute::InternalError(lines.text());
    job.join(rank, options)->barrier("all here");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

TEST_CASE("a start-up that takes too long fails on all ranks with the missing tasks",
          "[cluster][cluster_runtime]") {
  TestJob job(3);
  ClusterOptions options = quick_options();
  options.startup_timeout = 0.4;
  const auto errors = on_ranks(2, [&](int rank) { job.join(rank, options); });
  for (const std::string& error : errors) {
    CHECK(contains(error, "DEADLINE_EXCEEDED"));
    CHECK(contains(error, "worker 2 (" + job.tasks.members[2].address + ")"));
  }
}

TEST_CASE("progress texts and the clock reach every rank", "[cluster][cluster_runtime]") {
  const auto errors = run_job(3, [](ClusterRuntime& runtime) {
    const int rank = runtime.rank();
    runtime.set_progress([rank] { return "step " + std::to_string(rank); });
    const Deadline deadline = Deadline::after_seconds(10);
    const std::vector<std::string> wanted{"step 0", "step 1", "step 2"};
    while (runtime.progress() != wanted)
      if (deadline.passed()) throw distribute::InternalError("progress");
    // One machine, one clock: what is left is half the round trip's asymmetry.
    if (std::abs(runtime.clock_offset_ns()) > 50'000'000) throw distribute::InternalError("clock");
    runtime.barrier("end");
  });
  for (const std::string& error : errors) CHECK(error == "");
}

// "127.1" stands for a host's name that /etc/hosts calls a loopback address, see own_port_test.cpp.
TEST_CASE("a rank beside a leader with a loopback name is announced by that name",
          "[cluster][cluster_runtime]") {
  ClusterOptions options = quick_options();
  options.job_token = "a token lets others connect, too";
  TestJob job(2);
  job.tasks.members[0].address = "127.1:" + std::to_string(job.listeners[0].address().port);
  job.tasks.members[1].address = "";  // as torchrun and mpirun leave it
  job.listeners[1].close();
  const auto errors = on_ranks(2, [&](int rank) {
    const auto runtime = job.join(rank, options);
    const std::string found = runtime->member(1).address;
    if (!contains(found, "127.1:")) throw distribute::InternalError(found);
    if (rank == 1 && runtime->server().address().host != "0.0.0.0")
      throw distribute::InternalError(runtime->server().address().text());
    const auto socket = runtime->peer_socket(1 - rank, "test", 0);
    runtime->barrier("both have it");
    runtime->leave();
  });
  for (const std::string& error : errors) CHECK(error == "");
}
