#pragma once
/// Handles of OpenSSL that free themselves, and the parts of a TlsContext.

#include <distribute/net/detail/fast_gcm.hpp>
#include <distribute/net/detail/tls_options.hpp>

#include <memory>
#include <string>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

namespace distribute::net_internal {

template <auto free>
struct OpensslDeleter {
  template <typename T>
  void operator()(T* handle) const {
    free(handle);
  }
};
using SslPtr = std::unique_ptr<SSL, OpensslDeleter<&::SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpensslDeleter<&::SSL_CTX_free>>;
using BioMethodPtr = std::unique_ptr<BIO_METHOD, OpensslDeleter<&::BIO_meth_free>>;
using DerivationPtr = std::unique_ptr<EVP_PKEY_CTX, OpensslDeleter<&::EVP_PKEY_CTX_free>>;
using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, OpensslDeleter<&::EVP_CIPHER_CTX_free>>;

/// A secret in memory, which its destructor overwrites. Movable only.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
  Secret(Secret&& other) noexcept { *this = std::move(other); }
  Secret& operator=(Secret&& other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~Secret() { ::OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  const std::string& bytes() const { return bytes_; }
  const unsigned char* data() const {
    return reinterpret_cast<const unsigned char*>(bytes_.data());
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string bytes_;
};

/// Derives a key by HKDF-SHA256 (RFC 5869): extract without salt, then expand; with `extracted`,
/// expand alone. The result is empty when OpenSSL fails.
Secret hkdf(const std::string& key, const std::string& info, size_t size, bool extracted);

/// Derives 32 bytes with kTlsKeyContext.
Secret key_from_token(const std::string& token);

/// Keeps what OpenSSL's callbacks learn while a connection is made.
struct TlsNegotiation {
  std::string peer_name;            // the name that the other side gives itself
  Secret from_client, from_server;  // secrets of the two directions (RFC 8446, 7.1)
};

/// The parts of a TlsContext.
struct TlsContextParts {
  net::TlsOptions options;  // without the token
  BioMethodPtr method;
  SslContextPtr context;
  std::string identity;
  Secret key;                           // pre-shared; empty with certificates
  std::shared_ptr<const FastGcm> fast;  // null: OpenSSL encrypts
};

}  // namespace distribute::net_internal
