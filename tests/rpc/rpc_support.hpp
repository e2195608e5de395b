#pragma once
/// Jobs whose tasks meet in pairs, as objects of one test process.

#include <distribute/base/status.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/rpc/job_task.hpp>

#include <tests/cluster/cluster_support.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rpc_test {

using distribute::ClusterSpec;
using distribute::rpc::JobTask;

/// Starts a process of a ProcessCluster as a task of its job, with short limits.
inline std::shared_ptr<JobTask> start_from_environment() {
  const distribute::TFConfigClusterResolver resolver;
  ClusterOptions options = ClusterOptions::from_environment();
  options.heartbeat_interval = 0.1;
  options.lost_after = 5;
  return JobTask::start(
      {resolver.cluster_spec(), resolver.task_type()->name(), resolver.task_id().value(), options});
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

}  // namespace rpc_test
