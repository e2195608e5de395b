#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/address.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace distribute::net_internal {

DISTRIBUTE_INLINE absl::Status bad_address(std::string_view text, std::string_view why) {
  return absl::InvalidArgumentError(str_cat("address \"", untrusted::printable(text), "\": ", why,
                                            "; wanted host:port or [IPv6 address]:port"));
}

DISTRIBUTE_INLINE absl::StatusOr<net::Address> address_of(const sockaddr_storage& storage,
                                                          socklen_t size) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int error =
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), size, host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
  if (error != 0) return absl::InternalError(str_cat("getnameinfo: ", ::gai_strerror(error)));
  return net::Address{host, std::atoi(port)};
}

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE std::string Address::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return str_cat(v6 ? "[" : "", host, v6 ? "]:" : ":", port);
}

DISTRIBUTE_INLINE bool Address::is_loopback() const {
  in_addr v4;
  in6_addr v6;
  if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1)
    return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
  return host == "localhost";
}

DISTRIBUTE_INLINE absl::StatusOr<Address> parse_address(std::string_view text) {
  using net_internal::bad_address;
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "has no port");
  std::string_view host = text.substr(0, colon), digits = text.substr(colon + 1);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return bad_address(text, "the bracket is not closed before the port");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad_address(text, host.find("//") != std::string_view::npos
                                 ? "a scheme does not belong here"
                                 : "an IPv6 address needs brackets");
  }
  if (host.empty()) return bad_address(text, "has no host");
  const auto strange = [](char c) { return uint8_t(c) <= ' ' || c == 0x7f || c == '/'; };
  if (host.size() > 255 || std::any_of(host.begin(), host.end(), strange))
    return bad_address(text, "the host is not a name or an IP address");
  int port = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port < 0 || port > 65535)
    return bad_address(text, "the port is not a number from 0 to 65535");
  return Address{std::string(host), port};
}

DISTRIBUTE_INLINE absl::StatusOr<Address> local_address(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    return absl::UnavailableError(str_cat("getsockname: ", std::strerror(errno)));
  return net_internal::address_of(storage, size);
}

DISTRIBUTE_INLINE absl::StatusOr<Address> remote_address(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0)
    return absl::UnavailableError(str_cat("getpeername: ", std::strerror(errno)));
  return net_internal::address_of(storage, size);
}

DISTRIBUTE_INLINE std::string join_host_port(std::string_view host, int64_t port) {
  if (port < 1 || port > 65535)
    throw InvalidArgumentError(str_cat("the port of host ", untrusted::shown(host),
                                       " must be from 1 to 65535, not ", port));
  for (const char c : host)
    if (static_cast<unsigned char>(c) <= 0x20)
      throw InvalidArgumentError("not the name or address of a host: " + untrusted::shown(host));
  if (host.empty()) throw InvalidArgumentError(str_cat("the host of port ", port, " has no name"));
  const bool bare_ipv6 = host.find(':') != std::string_view::npos && host.front() != '[';
  return bare_ipv6 ? str_cat("[", host, "]:", port) : str_cat(host, ":", port);
}

}  // namespace distribute::net
