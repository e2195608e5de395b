#pragma once
/// The calling end of one connection to another task.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace distribute::net {
class Socket;
}

namespace distribute::rpc {

/// Makes one call at a time; other callers queue. JobTask::connect makes it. Thread-safe.
class RpcChannel {
 public:
  RpcChannel(std::shared_ptr<Peer> peer, net::Socket socket, int64_t max_message_bytes);
  RpcChannel(const RpcChannel&) = delete;
  ~RpcChannel();

  /// Calls a method of the other task and returns its answer.
  /// Throws  what the method threw, with the task's name in front; LostTaskError with its name and
  ///          address when it is lost, from then on always; DeadlineExceededError,
  ///          after which the channel can be used again; CancelledError after close();
  ///          ResourceExhaustedError for a body that is too long.
  std::string call(const std::string& method, std::string_view body, net::Deadline deadline);
  /// Closes the channel: the pending call and all later ones throw CancelledError, and the running
  /// method sees Call::cancelled().
  void close();

  /// Returns the start of the task to which the channel belongs.
  const Peer& peer() const { return *peer_; }
  const std::shared_ptr<Peer>& shared_peer() const { return peer_; }
  /// Whether calls can succeed: the channel is neither closed nor broken, and the task is not lost.
  bool usable() const;

 private:
  struct Impl;
  std::shared_ptr<Peer> peer_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::rpc
