#pragma once
/// Keys and rules of encrypted connections: TLS 1.3 (OpenSSL); builds without it cannot encrypt.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/tls_options.hpp>

#include <absl/status/statusor.h>

#include <memory>

namespace distribute::net_internal {
struct TlsContextParts;
}

namespace distribute::net {

/// False in builds without OpenSSL.
bool has_tls();

/// The "info" of the HKDF that makes 32 bytes of key from the job's token.
inline constexpr const char* kTlsKeyContext = "distribute TLS 1.3 pre-shared key, version 1";

/// Keys and settings that all encrypted connections of a task share. Immutable, thread-safe.
///
/// The protocol is TLS 1.3 with X25519 or P-256 and AES-128-GCM only. Every connection has its own
/// keys; someone who later learns the secret or the private key cannot decrypt it. There are no
/// tickets, no early data and no renegotiation.
class TlsContext {
 public:
  using Impl = net_internal::TlsContextParts;

  /// Errors  InvalidArgument for a missing or bad file, a key that does not match, or neither token
  ///         nor certificates; Unimplemented in a build without OpenSSL.
  static absl::StatusOr<std::shared_ptr<const TlsContext>> make(const TlsOptions& options);

  explicit TlsContext(std::unique_ptr<Impl> impl);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;

  /// Connections of this context use it.
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::net
