#pragma once
/// Jobs of several tasks as threads of one test.

#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/net/socket.hpp>

#include <tests/support/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using distribute::ClusterMember;
using distribute::ClusterOptions;
using distribute::ClusterRuntime;
using distribute::ClusterTasks;
using distribute::net::Deadline;

inline distribute::net::Listener local_listener() {
  return distribute::value_or_throw(
      distribute::net::Listener::bind({"127.0.0.1", 0}, Deadline::after_seconds(5)));
}

/// Lines that a runtime printed; thread-safe.
class LogLines {
 public:
  std::function<void(const std::string&)> sink() {
    return [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      text_ += line + "\n";
    };
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  /// Whether the line has come within ten seconds.
  bool waits_for(const std::string& part) const {
    const Deadline deadline = Deadline::after_seconds(10);
    while (text().find(part) == std::string::npos) {
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

/// Limits for tests: a silent task is lost after 20 s, as tests may run on busy cores. With
/// DISTRIBUTE_TEST_TLS in the environment, the same tests run on encrypted connections.
inline ClusterOptions quick_options() {
  ClusterOptions options;
  options.startup_timeout = 60;
  options.report_interval = 0.1;
  options.heartbeat_interval = 0.05;
  options.lost_after = 20;
  options.handshake_timeout = 5;
  options.shutdown_timeout = 5;
  options.operation_timeout = 60;
  options.log = [](const std::string&) {};
  options.tls = std::getenv("DISTRIBUTE_TEST_TLS") != nullptr;
  if (options.tls) options.job_token = "the token of the encrypted tests";
  return options;
}

/// Workers 0 to count - 1 with ports from the system, open already.
struct TestJob {
  explicit TestJob(int count) {
    for (int index = 0; index < count; ++index) {
      listeners.push_back(local_listener());
      tasks.members.push_back({"worker", index, listeners.back().address().text()});
    }
  }
  std::shared_ptr<ClusterRuntime> join(int rank, const ClusterOptions& options) {
    ClusterTasks mine = tasks;
    mine.rank = rank;
    return ClusterRuntime::join(mine, options, std::move(listeners[size_t(rank)]));
  }

  ClusterTasks tasks;
  std::vector<distribute::net::Listener> listeners;
};

/// The error that `body` throws, as "NAME: message"; empty when it throws none.
template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const distribute::Error& error) {
    return std::string(distribute::status_code_name(error.code())) + ": " + error.what();
  }
  return "";
}

/// Runs body(rank) on a thread for each rank and gives what error_of() gave.
inline std::vector<std::string> on_ranks(int count, const std::function<void(int)>& body) {
  std::vector<std::string> errors(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] { errors[size_t(rank)] = error_of([&] { body(rank); }); });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

/// A job whose tasks run body(runtime) and leave.
inline std::vector<std::string> run_job(int count, const std::function<void(ClusterRuntime&)>& body,
                                        const ClusterOptions& options = quick_options()) {
  TestJob job(count);
  return on_ranks(count, [&](int rank) {
    const auto runtime = job.join(rank, options);
    body(*runtime);
    runtime->leave();
  });
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
