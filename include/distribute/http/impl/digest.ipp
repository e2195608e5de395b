#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/http/credentials.hpp>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace distribute::io_internal {

DISTRIBUTE_INLINE std::string digest_of(std::string_view bytes, const EVP_MD* kind) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  auto* out = reinterpret_cast<unsigned char*>(digest.data());
  if (::EVP_Digest(bytes.data(), bytes.size(), out, &size, kind, nullptr) != 1) size = 0;
  digest.resize(size);
  return digest;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE bool has_digests() { return true; }

DISTRIBUTE_INLINE std::string sha256(std::string_view bytes) {
  return io_internal::digest_of(bytes, ::EVP_sha256());
}

DISTRIBUTE_INLINE std::string md5(std::string_view bytes) {
  return io_internal::digest_of(bytes, ::EVP_md5());
}

DISTRIBUTE_INLINE std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  ::HMAC(::EVP_sha256(), key.data(), int(key.size()),
         reinterpret_cast<const unsigned char*>(message.data()), message.size(),
         reinterpret_cast<unsigned char*>(digest.data()), &size);
  digest.resize(size);
  return digest;
}

}  // namespace distribute::io
#endif
