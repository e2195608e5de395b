#pragma once
/// Jobs whose tasks meet in pairs, as objects of one test process.

#include <distribute/base/status.hpp>
#include <distribute/net/listener.hpp>
#include <distribute/rpc/job_task.hpp>

#include <tests/support/catch.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rpc_test {

using distribute::ClusterOptions;
using distribute::ClusterSpec;
using distribute::net::Deadline;
using distribute::rpc::JobTask;

inline distribute::net::Listener local_listener() {
  return distribute::value_or_throw(
      distribute::net::Listener::bind({"127.0.0.1", 0}, Deadline::after_seconds(5)));
}

/// Limits for tests: a frozen task is found within two seconds, and nothing waits for minutes.
inline ClusterOptions quick_options() {
  ClusterOptions options;
  options.startup_timeout = 30;
  options.report_interval = 0.1;
  options.heartbeat_interval = 0.05;
  options.lost_after = 2;
  options.handshake_timeout = 5;
  options.shutdown_timeout = 5;
  options.operation_timeout = 30;
  options.log = [](const std::string&) {};
  return options;
}

inline Deadline soon() { return Deadline::after_seconds(30); }

/// The tasks of a cluster, with ports from the system, open until they start.
class Job {
 public:
  explicit Job(const std::map<std::string, int>& counts) {
    ClusterSpec::Jobs jobs;
    for (const auto& [type, count] : counts) {
      std::map<int, std::string> tasks;
      for (int i = 0; i < count; ++i) {
        auto listener = local_listener();
        tasks[i] = listener.address().text();
        listeners_.emplace(std::pair(type, i), std::move(listener));
      }
      jobs[type] = distribute::JobTasks(tasks);
    }
    cluster_ = ClusterSpec(jobs);
  }
  const ClusterSpec& cluster() const { return cluster_; }
  /// The first start takes the open port, a later one opens it again.
  std::shared_ptr<JobTask> start(const std::string& type, int index,
                                 ClusterOptions options = quick_options()) {
    auto listener = std::move(listeners_[{type, index}]);
    return JobTask::start({cluster_, type, index, std::move(options)}, std::move(listener));
  }

 private:
  ClusterSpec cluster_;
  std::map<std::pair<std::string, int>, distribute::net::Listener> listeners_;
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

}  // namespace rpc_test
