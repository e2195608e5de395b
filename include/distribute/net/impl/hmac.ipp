#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/net/job_token.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace distribute::net {

DISTRIBUTE_INLINE bool has_hmac() { return true; }

DISTRIBUTE_INLINE absl::StatusOr<std::string> hmac_sha256(std::string_view key,
                                                          std::string_view message) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  if (!::HMAC(EVP_sha256(), key.data(), int(key.size()),
              reinterpret_cast<const unsigned char*>(message.data()), message.size(),
              reinterpret_cast<unsigned char*>(digest.data()), &size))
    return absl::InternalError("OpenSSL could not compute an HMAC-SHA256");
  digest.resize(size);
  return digest;
}

DISTRIBUTE_INLINE absl::StatusOr<std::string> random_bytes(size_t count) {
  std::string bytes(count, '\0');
  if (::RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), int(count)) != 1)
    return absl::InternalError("OpenSSL has no random bytes");
  return bytes;
}

DISTRIBUTE_INLINE bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace distribute::net
#endif
