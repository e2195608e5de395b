#pragma once
/// One end of a control connection, for threads that use ::poll.

#include <distribute/cluster/detail/control_message.hpp>
#include <distribute/net/socket.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute::cluster_internal {

/// A connection that never blocks: bytes that the socket does not take at once are queued.
/// Thread-compatible.
class ControlLink {
 public:
  using Clock = net::Deadline::Clock;

  /// Refuses messages over `most` bytes.
  ControlLink(net::Socket socket, uint64_t most)
      : socket_(std::move(socket)), reader_(most), heard_(Clock::now()) {}

  using Frame = std::shared_ptr<const std::string>;  // an encoded message; links may share it

  /// Queues the message and sends what the socket takes. receive() returns errors.
  void send(const ControlMessage& message) {
    send(std::make_shared<const std::string>(message.encode()));
  }
  void send(Frame frame);
  void flush();
  /// Appends messages that have arrived, a limited number, so that other links are served too.
  /// Errors  Unavailable when the other end has closed; InvalidArgument for a damaged message. The
  /// messages before it are appended all the same.
  absl::Status receive(std::vector<ControlMessage>& messages);

  /// Returns the events for ::poll.
  short events() const;
  int native() const { return socket_.native(); }
  const std::string& peer() const { return socket_.peer(); }
  bool idle() const { return unsent_.empty(); }
  /// Returns the time at which bytes last arrived.
  Clock::time_point heard() const { return heard_; }

 private:
  absl::Status take(std::span<const std::byte> bytes, std::vector<ControlMessage>& messages);

  net::Socket socket_;
  net::FrameReader reader_;
  Clock::time_point heard_;
  std::vector<Frame> unsent_;
  size_t done_ = 0;  // number of bytes of the first one that are sent
};

}  // namespace distribute::cluster_internal
