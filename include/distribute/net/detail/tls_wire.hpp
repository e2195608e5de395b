#pragma once
/// The way of records between OpenSSL and a descriptor.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/tls_openssl.hpp>

#include <absl/status/status.h>

#include <cstddef>
#include <string>

#include <openssl/bio.h>

namespace distribute::net_internal {

/// Reads go straight through. Writes are collected, so that OpenSSL never waits and several records
/// go to the system at once.
/// Thread-compatible.
class TlsWire {
 public:
  explicit TlsWire(int descriptor) : descriptor_(descriptor) {}

  /// As ::recv; `blocked` when nothing is there now.
  int receive(char* out, int size, bool& blocked);
  void collect(const char* bytes, size_t size) { waiting_.append(bytes, size); }
  /// Hands the system what it takes. Errors: Unavailable.
  absl::Status flush();
  /// Bytes that flush() has left.
  size_t waiting() const { return waiting_.size() - sent_; }
  /// Whether the other end has closed the connection.
  bool has_ended() const { return ended_; }
  /// Unavailable once the connection has ended or failed.
  const absl::Status& failure() const { return failure_; }
  std::string ahead_;
  size_t ahead_begin_ = 0, ahead_end_ = 0;

 private:
  const int descriptor_;
  bool ended_ = false;
  std::string waiting_;
  size_t sent_ = 0;  // of waiting_
  absl::Status failure_;
};

/// What OpenSSL must know to use a TlsWire, which it gets by BIO_set_data.
BioMethodPtr make_wire_method();

}  // namespace distribute::net_internal
