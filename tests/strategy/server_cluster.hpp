#pragma once
/// Clusters with parameter servers whose tasks are threads of the test.

#include <distribute/distribute.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/parameter_server/parameter_server.hpp>

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace strategy_test {

namespace dist = distribute;

/// Runs the servers; strategies of the other tasks are made by the test, on any thread.
class ServerCluster {
 public:
  ServerCluster(int workers, int servers, bool chief = false) {
    dist::ClusterSpec::Jobs jobs{{"worker", addresses(workers)}, {"ps", addresses(servers)}};
    if (chief) jobs["chief"] = addresses(1);
    spec_ = dist::ClusterSpec(jobs);
    for (int i = 0; i < servers; ++i) {
      const auto task = dist::rpc::JobTask::start({.cluster = spec_, .type = "ps", .index = i});
      servers_.push_back(std::make_unique<dist::parameter_server::ParameterServer>(
          task, dist::parameter_server::ServerOptions{}));
      threads_.emplace_back([server = servers_.back().get()] { server->join(); });
    }
  }
  ~ServerCluster() {
    for (std::thread& thread : threads_) thread.join();
  }

  const dist::ClusterSpec& spec() const { return spec_; }
  /// Lives as long as the cluster; of any thread.
  dist::ClusterResolver& resolver(const std::string& type, int index) {
    const std::lock_guard lock(mutex_);
    return resolvers_.emplace_back(
        spec_, dist::SimpleClusterResolverOptions{.task_type = type, .task_id = index});
  }

 private:
  dist::JobTasks addresses(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i)
      all.push_back(dist::str_cat("127.0.0.1:", ports_.emplace_back().number()));
    return dist::JobTasks(all);
  }

  std::list<dist::launch::ReservedPort> ports_;
  dist::ClusterSpec spec_;
  std::mutex mutex_;
  std::list<dist::SimpleClusterResolver> resolvers_;
  std::vector<std::unique_ptr<dist::parameter_server::ParameterServer>> servers_;
  std::vector<std::thread> threads_;
};

}  // namespace strategy_test
