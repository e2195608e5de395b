#pragma once
/// A connection that is not authenticated yet.

#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/socket.hpp>

#include <memory>
#include <string>

namespace distribute::net {
class TlsHandshake;
}

namespace distribute::cluster_internal {

/// A handshake that never blocks: advance() does what the socket allows at the moment.
/// Thread-compatible.
class HalfOpen {
 public:
  enum class State { Proving, Refusing, Accepted, Closed };

  HalfOpen(net::Socket socket, const net::HandshakeConfig& config,
           net::ServerHandshake::Admit admit, net::Deadline deadline);
  ~HalfOpen();

  void advance();
  State state() const { return state_; }
  /// Returns the events for ::poll.
  short events() const;
  int native() const { return socket_.native(); }
  net::Deadline deadline() const { return deadline_; }
  /// Describes the other side, as far as it is known, and why it was refused.
  std::string description() const;
  const absl::Status& reason() const { return reason_; }

  /// The following functions may be called once the connection is accepted:
  net::Socket take_socket();
  const net::HandshakeHello& hello() const { return handshake_.hello(); }

 private:
  void begin();
  void encrypt();
  void read_frames();
  absl::Status check_plain(const net::Frame& first) const;
  void write_answers();
  void discard_input();
  void refuse(const absl::Status& reason);
  void refuse_version(uint16_t theirs);
  void close(const absl::Status& reason);

  const net::HandshakeConfig& config_;
  net::Socket socket_;
  std::string taken_;                       // its description, once the socket has another owner
  std::unique_ptr<net::TlsHandshake> tls_;  // while it goes on
  bool begun_ = false;                      // the first byte has come
  net::ServerHandshake handshake_;
  net::FrameReader reader_;
  net::Deadline deadline_;
  State state_ = State::Proving;
  std::string answers_;  // not yet sent
  size_t discarded_ = 0;
  absl::Status reason_;
};

}  // namespace distribute::cluster_internal
