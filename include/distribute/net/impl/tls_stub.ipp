#pragma once
#if !DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/config.hpp>
#include <distribute/net/detail/tls.hpp>

namespace distribute::net_internal {

struct TlsContextParts {};

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE bool has_tls() { return false; }

DISTRIBUTE_INLINE absl::StatusOr<std::shared_ptr<const TlsContext>> TlsContext::make(
    const TlsOptions&) {
  return absl::UnimplementedError(
      "this build has no OpenSSL and cannot encrypt; " DISTRIBUTE_GET_OPENSSL
      ", or unset DISTRIBUTE_TLS");
}

DISTRIBUTE_INLINE TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DISTRIBUTE_INLINE TlsContext::~TlsContext() = default;

}  // namespace distribute::net
#endif
