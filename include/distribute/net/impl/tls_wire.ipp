#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/net/detail/tls_wire.hpp>

#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace distribute::net_internal {

DISTRIBUTE_INLINE int TlsWire::receive(char* out, int size, bool& blocked) {
  const ssize_t got = ::recv(descriptor_, out, size_t(size), MSG_DONTWAIT);
  blocked = got < 0 && (errno == EAGAIN || errno == EINTR);
  if (got == 0) failure_ = absl::UnavailableError("it has closed the connection");
  if (got < 0 && !blocked) failure_ = absl::UnavailableError(std::strerror(errno));
  return int(got);
}

DISTRIBUTE_INLINE absl::Status TlsWire::flush() {
  while (!waiting_.empty()) {
    const ssize_t sent =
        ::send(descriptor_, waiting_.data(), waiting_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return absl::OkStatus();
    if (sent < 0) return absl::UnavailableError(std::strerror(errno));
    waiting_.erase(0, size_t(sent));
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE int wire_read(BIO* bio, char* out, int size) {
  bool blocked = false;
  const int got = static_cast<TlsWire*>(::BIO_get_data(bio))->receive(out, size, blocked);
  ::BIO_clear_retry_flags(bio);
  if (blocked) ::BIO_set_retry_read(bio);
  return got;
}

DISTRIBUTE_INLINE int wire_write(BIO* bio, const char* bytes, int size) {
  static_cast<TlsWire*>(::BIO_get_data(bio))->collect(bytes, size_t(size));
  return size;
}

DISTRIBUTE_INLINE long wire_control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

DISTRIBUTE_INLINE BioMethodPtr make_wire_method() {
  BioMethodPtr method(::BIO_meth_new(BIO_TYPE_SOURCE_SINK | 127, "distribute wire"));
  if (!method) return method;
  ::BIO_meth_set_read(method.get(), &wire_read);
  ::BIO_meth_set_write(method.get(), &wire_write);
  ::BIO_meth_set_ctrl(method.get(), &wire_control);
  return method;
}

}  // namespace distribute::net_internal
#endif
