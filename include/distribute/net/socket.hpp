#pragma once
/// TCP sockets: connecting, listening, reading and writing with deadlines.

#include <distribute/base/config.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/detail/secure_layer.hpp>

#include <absl/status/statusor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace distribute::net {

/// Owns a connected, non-blocking socket without Nagle's delay; moved-from is empty.
/// Thread-compatible; one thread may read while another writes, and shutdown() may be called from
/// any thread.
class Socket {
 public:
  Socket() = default;
  /// Takes ownership of a connected descriptor; `peer` names the other end in errors.
  Socket(int descriptor, std::string peer);
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept { *this = std::move(other); }
  Socket& operator=(Socket&& other) noexcept;

  explicit operator bool() const { return descriptor_ >= 0; }
  /// Returns the descriptor, for ::poll and addresses. Bytes go through the functions below.
  int native() const { return descriptor_; }
  const std::string& peer() const { return peer_; }
  void set_peer(std::string peer) { peer_ = std::move(peer); }

  /// Fills `out`.
  /// Errors  Unavailable when the peer has closed or reset; DeadlineExceeded. Both name the peer.
  absl::Status read(std::span<std::byte> out, Deadline deadline);
  /// Hands all bytes to the system. Errors  as read().
  absl::Status write(std::span<const std::byte> bytes, Deadline deadline);

  /// Reads the bytes that are there now into `out`, then `more`; 0 when there are none.
  /// Errors  Unavailable; on an encrypted connection those of SecureLayer::read_some.
  absl::StatusOr<size_t> read_some(std::span<std::byte> out, std::span<std::byte> more = {});
  /// Writes as much of `bytes`, then `more`, as the system takes now. After a partial write, the
  /// next call must begin with the rest. Errors  as read_some().
  absl::StatusOr<size_t> write_some(std::span<const std::byte> bytes,
                                    std::span<const std::byte> more = {});
  /// Sends at once what was written. Linux holds back the end of a long write while packets of it
  /// are queued (tcp_autocorking): with late acknowledgements that took 40 ms and more.
  void push();
  /// Returns whether read_some() may give bytes that ::poll does not report, so call it before you
  /// wait.
  bool has_buffered() const { return layer_ && layer_->has_buffered(); }
  /// Returns whether read_some() has failed because the other end closed the connection.
  bool saw_end() const { return saw_end_ || (layer_ && layer_->has_ended()); }
  /// Returns whether the other end has closed the connection and all its bytes were read.
  bool has_ended() const;
  /// Returns the next byte on the wire, which is not removed; nothing when no byte has arrived.
  std::optional<std::byte> peek_byte() const;

  /// Sends everything through `layer` from now on.
  void secure(std::unique_ptr<SecureLayer> layer) { layer_ = std::move(layer); }
  /// Returns the encryption layer; null when the connection is not encrypted.
  const SecureLayer* layer() const { return layer_.get(); }

  /// Ends both directions: reads and writes that wait in any thread fail at once.
  void shutdown() const;
  /// Ends the outgoing direction; the other end reads the written bytes, and then the end.
  void end_writing() const;
  void close();

 private:
  absl::Status wait(short events, Deadline deadline, const char* what) const;
  absl::Status broken(bool by_end) const;
  absl::StatusOr<size_t> told(absl::StatusOr<size_t> result) const;

  int descriptor_ = -1;
  bool saw_end_ = false;
  std::unique_ptr<SecureLayer> layer_;
  std::string peer_;
};

/// Resolves the host and tries each of its addresses once, one after the other.
/// Errors  Unavailable when the port is closed or the name unknown; DeadlineExceeded. Both name the
///         address.
absl::StatusOr<Socket> connect(const Address& address, Deadline deadline);

/// Repeats connect() while the port is closed or the name does not resolve yet, because tasks start
/// in any order. Between two tries it calls `keep_trying` with the last error; false ends the wait
/// with that error.
/// Errors  DeadlineExceeded with the last reason.
absl::StatusOr<Socket> connect_patiently(
    const Address& address, Deadline deadline,
    const std::function<bool(const absl::Status&)>& keep_trying = nullptr);

/// Owns a listening, non-blocking socket; moved-from is empty. Thread-compatible.
class Listener {
 public:
  Listener() = default;
  ~Listener() { close(); }
  Listener(Listener&& other) noexcept { *this = std::move(other); }
  Listener& operator=(Listener&& other) noexcept;

  /// Listens on exactly this address; port 0 lets the system choose. A host name is resolved.
  /// Errors  FailedPrecondition when the port is taken or the address is not this machine's.
  static absl::StatusOr<Listener> bind(const Address& address, Deadline deadline);
  /// Listens where other hosts can reach it. For a name it takes the first address that is not
  /// loopback. A name that has only loopback addresses, as Debian gives a host's own name
  /// (127.0.1.1, also 127.0.0.1 and ::1), means all addresses of this host. A loopback address or
  /// "localhost" itself is kept.
  static absl::StatusOr<Listener> bind_for_others(const Address& address, Deadline deadline);

  explicit operator bool() const { return descriptor_ >= 0; }
  /// Returns the descriptor, for ::poll.
  int native() const { return descriptor_; }
  /// Returns the numeric address of the listener, with the port that the system chose when port 0
  /// was asked for.
  const Address& address() const { return address_; }

  /// Waits for the next connection; its peer() is the address of the other end.
  /// Errors  DeadlineExceeded; ResourceExhausted when this process has no descriptor left.
  absl::StatusOr<Socket> accept(Deadline deadline);
  /// Accepts a connection without waiting; gives an empty Socket when there is none.
  absl::StatusOr<Socket> accept_now();
  void close();

 private:
  static absl::StatusOr<Listener> listen(const Address& wanted, const Address& numeric);

  int descriptor_ = -1;
  Address address_;
};

}  // namespace distribute::net
