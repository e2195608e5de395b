#pragma once
/// Between OpenSSL and a descriptor while a connection is being made.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/tls_openssl.hpp>

#include <absl/status/status.h>

#include <cstddef>
#include <string>

#include <openssl/bio.h>

namespace distribute::net_internal {

/// Reads go straight through; what is written is collected, so that OpenSSL never waits.
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
  size_t waiting() const { return waiting_.size(); }
  /// Unavailable once the connection has ended.
  const absl::Status& failure() const { return failure_; }

 private:
  const int descriptor_;
  std::string waiting_;
  absl::Status failure_;
};

/// What OpenSSL must know to use a TlsWire, which it gets by BIO_set_data.
BioMethodPtr make_wire_method();

}  // namespace distribute::net_internal
