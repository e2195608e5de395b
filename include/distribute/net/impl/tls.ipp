#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/error.hpp>
#include <distribute/net/detail/tls.hpp>
#include <distribute/net/detail/tls_records.hpp>
#include <distribute/net/detail/tls_wire.hpp>

#include <string_view>

#include <openssl/err.h>

namespace distribute::net_internal {

inline constexpr std::string_view kIdentityPrefix = "distribute ";
/// OpenSSL compares this text between a connection and its key.
inline constexpr unsigned char kSessionContext[] = "distribute";

DISTRIBUTE_INLINE std::string openssl_reason() {
  const char* reason = ::ERR_reason_error_string(::ERR_peek_error());
  return reason ? reason : "no reason given";
}

DISTRIBUTE_INLINE Secret key_from_token(const std::string& token) {
  return hkdf(token, net::kTlsKeyContext, 32, false);
}

DISTRIBUTE_INLINE const TlsContextParts& settings_of(SSL* ssl) {
  return *static_cast<const TlsContextParts*>(::SSL_CTX_get_ex_data(::SSL_get_SSL_CTX(ssl), 0));
}

/// Makes the pre-shared key of TLS 1.3, which OpenSSL represents as a session, from the job's key.
/// Null without memory.
DISTRIBUTE_INLINE SSL_SESSION* key_as_session(SSL* ssl, const Secret& key) {
  const unsigned char aes_128_gcm_sha256[2] = {0x13, 0x01};
  const SSL_CIPHER* cipher = ::SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
  SSL_SESSION* session = ::SSL_SESSION_new();
  if (session && cipher &&
      ::SSL_SESSION_set1_master_key(session, key.data(), key.bytes().size()) == 1 &&
      ::SSL_SESSION_set_cipher(session, cipher) == 1 &&
      ::SSL_SESSION_set1_id_context(session, kSessionContext, sizeof kSessionContext) == 1 &&
      ::SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  ::SSL_SESSION_free(session);
  return nullptr;
}

/// OpenSSL calls it on the connecting side.
DISTRIBUTE_INLINE int offer_key(SSL* ssl, const EVP_MD* hash, const unsigned char** identity,
                                size_t* size, SSL_SESSION** session) {
  const TlsContextParts& settings = settings_of(ssl);
  *session = nullptr;
  if (hash && ::EVP_MD_get_type(hash) != NID_sha256) return 1;  // there is no key for another hash
  *session = key_as_session(ssl, settings.key);
  *identity = reinterpret_cast<const unsigned char*>(settings.identity.data());
  *size = settings.identity.size();
  return *session ? 1 : 0;
}

/// OpenSSL calls it on the accepting side.
DISTRIBUTE_INLINE int find_key(SSL* ssl, const unsigned char* identity, size_t size,
                               SSL_SESSION** session) {
  const std::string_view name(reinterpret_cast<const char*>(identity), size);
  *session = nullptr;
  if (!name.starts_with(kIdentityPrefix) || size > 300) return 1;  // there is no such key
  static_cast<TlsNegotiation*>(SSL_get_app_data(ssl))->peer_name =
      name.substr(kIdentityPrefix.size());
  *session = key_as_session(ssl, settings_of(ssl).key);
  return *session ? 1 : 0;
}

DISTRIBUTE_INLINE Secret from_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += char(value(digits[i]) << 4 | value(digits[i + 1]));
  return Secret(std::move(bytes));
}

/// OpenSSL calls it with each secret that it makes, as "NAME RANDOM SECRET" in hexadecimal digits.
/// This is its way to hand connections over to other record layers. The secrets are written
/// nowhere.
DISTRIBUTE_INLINE void take_secret(const SSL* ssl, const char* text) {
  auto& negotiation = *static_cast<TlsNegotiation*>(SSL_get_app_data(ssl));
  const std::string_view line(text), digits = line.substr(line.rfind(' ') + 1);
  if (line.starts_with("CLIENT_TRAFFIC_SECRET_0 ")) negotiation.from_client = from_hex(digits);
  if (line.starts_with("SERVER_TRAFFIC_SECRET_0 ")) negotiation.from_server = from_hex(digits);
}

DISTRIBUTE_INLINE absl::Status use_token(TlsContextParts& impl) {
  impl.identity = str_cat(kIdentityPrefix, impl.options.name);
  impl.key = key_from_token(impl.options.token);
  if (impl.key.empty())
    return absl::InternalError("OpenSSL could not derive a key: " + openssl_reason());
  ::SSL_CTX_set_psk_use_session_callback(impl.context.get(), &offer_key);
  ::SSL_CTX_set_psk_find_session_callback(impl.context.get(), &find_key);
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status use_certificates(TlsContextParts& impl) {
  SSL_CTX* context = impl.context.get();
  const net::TlsOptions& files = impl.options;
  if (files.certificate_file.empty() || files.key_file.empty() || files.ca_file.empty())
    return absl::InvalidArgumentError(
        "encryption by certificates needs all of DISTRIBUTE_TLS_CERT, DISTRIBUTE_TLS_KEY and "
        "DISTRIBUTE_TLS_CA");
  const auto bad = [](const char* variable, const std::string& file) {
    return absl::InvalidArgumentError(str_cat(variable, "=", file, ": ", openssl_reason()));
  };
  ::ERR_clear_error();
  if (::SSL_CTX_use_certificate_chain_file(context, files.certificate_file.c_str()) != 1)
    return bad("DISTRIBUTE_TLS_CERT", files.certificate_file);
  if (::SSL_CTX_use_PrivateKey_file(context, files.key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1)
    return bad("DISTRIBUTE_TLS_KEY", files.key_file);
  if (::SSL_CTX_load_verify_file(context, files.ca_file.c_str()) != 1)
    return bad("DISTRIBUTE_TLS_CA", files.ca_file);
  return absl::OkStatus();
}

DISTRIBUTE_INLINE void set_rules(SSL_CTX* context) {
  ::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  ::SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
  ::SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
  ::SSL_CTX_set1_groups_list(context, "X25519:P-256");
  // With a token no authority is set, so that a certificate is never an alternative to the token.
  ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  ::SSL_CTX_set_session_id_context(context, kSessionContext, sizeof kSessionContext);
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_num_tickets(context, 0);
  ::SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  ::SSL_CTX_set_read_ahead(context, 0);  // OpenSSL must not read what follows the handshake
  ::SSL_CTX_set_keylog_callback(context, &take_secret);
}

}  // namespace distribute::net_internal

namespace distribute::net {

DISTRIBUTE_INLINE bool has_tls() { return true; }

DISTRIBUTE_INLINE TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DISTRIBUTE_INLINE TlsContext::~TlsContext() = default;

DISTRIBUTE_INLINE absl::StatusOr<std::shared_ptr<const TlsContext>> TlsContext::make(
    const TlsOptions& options) {
  if (options.token.empty() && !options.has_certificates())
    return absl::InvalidArgumentError(
        "encryption (DISTRIBUTE_TLS=1) needs a job token, in DISTRIBUTE_JOB_TOKEN or "
        "DISTRIBUTE_JOB_TOKEN_FILE (\"distribute run\" makes one by itself), or certificates, in "
        "DISTRIBUTE_TLS_CERT, DISTRIBUTE_TLS_KEY and DISTRIBUTE_TLS_CA");
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->fast = net_internal::FastGcm::make();
  impl->method = net_internal::make_wire_method();
  impl->context.reset(::SSL_CTX_new(::TLS_method()));
  if (!impl->method || !impl->context)
    return absl::InternalError("OpenSSL could not start: " + net_internal::openssl_reason());
  net_internal::set_rules(impl->context.get());
  ::SSL_CTX_set_ex_data(impl->context.get(), 0, impl.get());
  const absl::Status status = options.has_certificates() ? net_internal::use_certificates(*impl)
                                                         : net_internal::use_token(*impl);
  if (!status.ok()) return status;
  ::OPENSSL_cleanse(impl->options.token.data(), impl->options.token.size());
  impl->options.token.clear();
  return std::make_shared<const TlsContext>(std::move(impl));
}

}  // namespace distribute::net
#endif
