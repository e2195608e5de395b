#pragma once
/// The listening end of one address.

#include <distribute/net/address.hpp>
#include <distribute/net/socket.hpp>

namespace distribute::net {

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
  /// The same where other hosts can reach it: of a name's addresses the first that is no loopback
  /// address, and at all addresses of this host for a name with loopback addresses alone, as Debian
  /// gives a host's own name (127.0.1.1, also 127.0.0.1 and ::1). A loopback address or "localhost"
  /// itself stays one.
  static absl::StatusOr<Listener> bind_for_others(const Address& address, Deadline deadline);

  explicit operator bool() const { return descriptor_ >= 0; }
  /// For ::poll.
  int native() const { return descriptor_; }
  /// As numbers, with the port that the system chose.
  const Address& address() const { return address_; }

  /// The next connection; its peer() is the other end's address.
  /// Errors  DeadlineExceeded; ResourceExhausted when this process has no descriptor left.
  absl::StatusOr<Socket> accept(Deadline deadline);
  /// An empty Socket when no connection waits.
  absl::StatusOr<Socket> accept_now();
  void close();

 private:
  static absl::StatusOr<Listener> listen(const Address& wanted, const Address& numeric);

  int descriptor_ = -1;
  Address address_;
};

}  // namespace distribute::net
