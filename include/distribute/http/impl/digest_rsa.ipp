#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/http/credentials.hpp>

#include <distribute/base/status.hpp>

#include <memory>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace distribute::io_internal {

struct RsaCloser {
  void operator()(BIO* bio) const { ::BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
};

/// Gives null for anything but an RSA key. An empty pass phrase prevents a question at the
/// terminal.
DISTRIBUTE_INLINE std::unique_ptr<EVP_PKEY, RsaCloser> read_rsa_key(const std::string& pem) {
  char no_phrase[] = "";
  const std::unique_ptr<BIO, RsaCloser> bio(::BIO_new_mem_buf(pem.data(), int(pem.size())));
  std::unique_ptr<EVP_PKEY, RsaCloser> key(
      bio ? ::PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, &no_phrase[0]) : nullptr);
  if (key && ::EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) key.reset();
  return key;
}

}  // namespace distribute::io_internal

namespace distribute::io {

DISTRIBUTE_INLINE absl::StatusOr<std::string> rsa_sha256_sign(const std::string& private_key,
                                                              std::string_view message) {
  const auto key = io_internal::read_rsa_key(private_key);
  if (!key)
    return make_status(StatusCode::InvalidArgument,
                       "the private key is no unencrypted PEM text of an RSA key");
  const std::unique_ptr<EVP_MD_CTX, io_internal::RsaCloser> context(::EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  size_t size = 0;
  const bool sized =
      ::EVP_DigestSignInit(context.get(), nullptr, ::EVP_sha256(), nullptr, key.get()) == 1 &&
      ::EVP_DigestSign(context.get(), nullptr, &size, bytes, message.size()) == 1;
  std::string signature(size, '\0');
  auto* out = reinterpret_cast<unsigned char*>(signature.data());
  if (!sized || ::EVP_DigestSign(context.get(), out, &size, bytes, message.size()) != 1)
    return make_status(StatusCode::Internal, "OpenSSL could not sign with the private key");
  signature.resize(size);
  return signature;
}

}  // namespace distribute::io
#endif
