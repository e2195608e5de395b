#pragma once
#if !DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/config.hpp>
#include <distribute/http/credentials.hpp>

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<std::string> rsa_sha256_sign(const std::string&,
                                                              std::string_view) {
  return absl::UnimplementedError(
      "signing with a private key needs OpenSSL; " DISTRIBUTE_GET_OPENSSL);
}

}  // namespace distribute::io
#endif
