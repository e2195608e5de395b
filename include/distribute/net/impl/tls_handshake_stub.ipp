#pragma once
#if !DISTRIBUTE_HAS_OPENSSL
#include <distribute/net/detail/tls_handshake.hpp>

namespace distribute::net {

// Without OpenSSL there is no TlsContext, so none of this is called.
struct TlsHandshake::Impl {};

DISTRIBUTE_INLINE TlsHandshake::TlsHandshake(std::shared_ptr<const TlsContext>, Role, int,
                                             const std::string&) {}
DISTRIBUTE_INLINE TlsHandshake::~TlsHandshake() = default;
DISTRIBUTE_INLINE absl::Status TlsHandshake::advance() {
  return absl::UnimplementedError("this build has no OpenSSL and cannot encrypt");
}
DISTRIBUTE_INLINE bool TlsHandshake::finished() const { return false; }
DISTRIBUTE_INLINE short TlsHandshake::events() const { return 0; }
DISTRIBUTE_INLINE std::unique_ptr<SecureLayer> TlsHandshake::take_layer() { return nullptr; }

}  // namespace distribute::net
#endif
