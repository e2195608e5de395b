#pragma once
/// Options of a task's encrypted connections.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>

namespace distribute::net {

/// Says how the tasks of a job trust each other: by a secret that all know or, with the three
/// files, by certificates.
struct TlsOptions {
  /// The name of this task, "worker 1". With a secret it is sent in clear text, for messages.
  std::string name = {};
  /// The job's token. The key is HKDF-SHA256(token, no salt, kTlsKeyContext).
  std::string token = {};
  /// PEM files: this task's certificate followed by intermediate ones, its private key, and the
  /// authorities that sign the certificates of all tasks.
  std::string certificate_file = {}, key_file = {}, ca_file = {};
  /// Number of bytes after which a sender takes a new key; AES-GCM is safe for some 300 GiB.
  uint64_t bytes_per_key = uint64_t{64} << 30;

  /// Whether certificate, key and authorities are given; without them the key is derived from the
  /// token.
  bool has_certificates() const {
    return !certificate_file.empty() || !key_file.empty() || !ca_file.empty();
  }
};

}  // namespace distribute::net
