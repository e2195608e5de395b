#pragma once
/// Addresses of tasks, as text and resolved.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace distribute::net {

/// The host is a name, an IPv4 or an IPv6 address without brackets. It can be copied.
struct Address {
  std::string host;
  int port = 0;

  /// Formats the address as "host:port", with brackets around IPv6: "[::1]:2222".
  std::string text() const;
  /// Returns whether only processes of this machine can reach it: 127.x.x.x, ::1 or "localhost".
  bool is_loopback() const;
  bool operator==(const Address&) const = default;
};

/// Parses "host:port" or "[::1]:port". With port 0 the system chooses one.
/// Errors  InvalidArgument that says what is wrong with the text.
absl::StatusOr<Address> parse_address(std::string_view text);

/// Formats "host:port", and adds brackets around an IPv6 address that has none.
/// Throws  InvalidArgumentError for a port outside of 1 to 65535 or a host with blanks in it.
std::string join_host_port(std::string_view host, int64_t port);

/// Returns the address of this end of a socket, as numbers.
absl::StatusOr<Address> local_address(int descriptor);
/// Returns the address of the other end.
absl::StatusOr<Address> remote_address(int descriptor);

/// All numeric addresses of a host, IPv4 first; at least one.
/// Blocks  until the system's resolver answers; an answer after the deadline is dropped.
/// Errors  Unavailable when the name is not known (yet); DeadlineExceeded.
absl::StatusOr<std::vector<Address>> resolve(const Address& address, Deadline deadline);

/// Returns whether a numeric address belongs to this host; loopback addresses do.
bool is_of_this_host(const Address& numeric);

}  // namespace distribute::net
