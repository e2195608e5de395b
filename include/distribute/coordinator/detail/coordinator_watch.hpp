#pragma once
/// Watches on a worker whether its coordinator comes, and comes back.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>
#include <distribute/net/deadline.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::rpc {
class Peer;
}

namespace distribute::coordinator_internal {

/// Cancels the running function when the coordinator is lost, and stops the service when the
/// coordinator has not come, or not returned, in time; at once when a parameter server is lost,
/// too, as this process then has to start again. Thread-safe; it has its own thread.
class CoordinatorWatch {
 public:
  using Peers = std::vector<std::shared_ptr<rpc::Peer>>;
  struct Options {
    Peers servers = {};  // parameter servers
    /// Time to wait for the coordinator at first, and when it was lost; in seconds.
    double first_patience = 300, return_patience = 300;
    /// Called a few times a second, with whether the coordinator is there; true ends the service,
    /// after the running function.
    std::function<bool(bool)> leaves = {};
    std::function<void(const std::string&)> log = {};  // receives a line when it is lost
  };
  /// The service is borrowed.
  CoordinatorWatch(WorkerService& service, Options options);
  ~CoordinatorWatch();
  CoordinatorWatch(const CoordinatorWatch&) = delete;
  CoordinatorWatch& operator=(const CoordinatorWatch&) = delete;

  /// Sets the current coordinator.
  void greeted(const std::shared_ptr<rpc::Peer>& coordinator);

 private:
  void watch();
  void lost(uint64_t incarnation);
  void leave_peer();
  std::exception_ptr lost_server() const;

  WorkerService& service_;
  const Options options_;
  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  std::shared_ptr<rpc::Peer> coordinator_;
  int callback_ = 0;
  bool waiting_ = true, stopping_ = false;
  net::Deadline deadline_;
  std::string missing_ = "no coordinator has come";
  std::thread thread_;
};

}  // namespace distribute::coordinator_internal
