#pragma once
/// Methods that other tasks of the job may call.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace distribute {
class TaskServer;
}

namespace distribute::rpc {

class PeerMonitor;

/// One call, as the method sees it. Lives as long as the method runs.
class Call {
 public:
  Call(std::shared_ptr<Peer> peer, std::string_view body, net::Deadline deadline,
       std::function<bool()> cancelled)
      : peer_(std::move(peer)),
        body_(body),
        deadline_(deadline),
        cancelled_(std::move(cancelled)) {}

  /// Returns the calling task, which knows whether it is still alive.
  const Peer& peer() const { return *peer_; }
  const std::shared_ptr<Peer>& shared_peer() const { return peer_; }
  std::string_view body() const { return body_; }
  net::Deadline deadline() const { return deadline_; }
  /// Whether the answer is not wanted any more: the caller has hung up, is lost or has timed out,
  /// or the method is being removed. Methods that wait call it several times a second.
  bool cancelled() const { return cancelled_(); }

 private:
  std::shared_ptr<Peer> peer_;
  std::string_view body_;
  net::Deadline deadline_;
  std::function<bool()> cancelled_;
};

using Method = std::function<std::string(const Call&)>;

/// Serves each connection on its own thread, so that methods run in parallel and may block. The
/// caller gets the error of a method as the same kind of error with this task's name in front.
/// Thread-safe.
class RpcServer {
 public:
  /// `task` and `monitor` are borrowed; messages over `max_message_bytes` are refused.
  RpcServer(TaskServer& task, PeerMonitor& monitor, int64_t max_message_bytes);
  RpcServer(const RpcServer&) = delete;
  /// Cancels the calls and waits for their methods.
  ~RpcServer();

  /// Adds a method. Calls that came earlier have waited for it.
  /// Throws  AlreadyExistsError.
  void add(const std::string& name, Method method);
  /// Removes a method.
  /// Blocks  until no call of the method runs; none runs afterwards.
  void remove(const std::string& name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::rpc
