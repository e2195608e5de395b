#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>

#include <bit>
#include <memory>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE bool has_keyed_hash() { return true; }

/// Gives the thread's own context, because making one takes longer than a hash.
DISTRIBUTE_INLINE EVP_MAC_CTX* siphash_context() {
  using Context = std::unique_ptr<EVP_MAC_CTX, void (*)(EVP_MAC_CTX*)>;
  thread_local const Context context = [] {
    const std::unique_ptr<EVP_MAC, void (*)(EVP_MAC*)> method(
        EVP_MAC_fetch(nullptr, "SIPHASH", nullptr), EVP_MAC_free);
    return Context(method ? EVP_MAC_CTX_new(method.get()) : nullptr, EVP_MAC_CTX_free);
  }();
  return context.get();
}

DISTRIBUTE_INLINE int64_t keyed_hash_bucket(std::string_view text, int64_t num_buckets,
                                            std::array<uint64_t, 2> key) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t hash = 0;
  size_t size = sizeof hash;
  const OSSL_PARAM wanted[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                               OSSL_PARAM_construct_end()};
  const auto bytes = [](const void* data) { return static_cast<const unsigned char*>(data); };
  EVP_MAC_CTX* context = siphash_context();
  if (!context || !EVP_MAC_init(context, bytes(key.data()), sizeof key, wanted) ||
      !EVP_MAC_update(context, bytes(text.data()), text.size()) ||
      !EVP_MAC_final(context, reinterpret_cast<unsigned char*>(&hash), &size, sizeof hash))
    throw InternalError("OpenSSL could not compute SipHash");
  return int64_t(hash % uint64_t(num_buckets));
}

}  // namespace distribute::preprocessing::preprocessing_internal
#endif
