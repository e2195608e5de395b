#pragma once
/// Connects OpenSSL to a descriptor while a connection is made.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/tls_openssl.hpp>

#include <absl/status/status.h>

#include <cstddef>
#include <string>

#include <openssl/bio.h>

namespace distribute::net_internal {

/// Reads go directly to the descriptor; written bytes are collected, so that OpenSSL never waits.
/// Thread-compatible.
class TlsWire {
 public:
  explicit TlsWire(int descriptor) : descriptor_(descriptor) {}

  /// Does what ::recv does; `blocked` is set when no byte is there.
  int receive(char* out, int size, bool& blocked);
  void collect(const char* bytes, size_t size) { waiting_.append(bytes, size); }
  /// Hands the system as many of the collected bytes as it takes. Errors: Unavailable.
  absl::Status flush();
  /// Number of bytes that flush() could not hand over.
  size_t waiting() const { return waiting_.size(); }
  /// Unavailable once the connection has ended.
  const absl::Status& failure() const { return failure_; }

 private:
  const int descriptor_;
  std::string waiting_;
  absl::Status failure_;
};

/// Makes the method by which OpenSSL uses a TlsWire; BIO_set_data passes the TlsWire to it.
BioMethodPtr make_wire_method();

}  // namespace distribute::net_internal
