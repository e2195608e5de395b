#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/detail/tls_handshake.hpp>
#include <distribute/net/detail/tls_layer.hpp>
#include <distribute/net/detail/tls_wire.hpp>

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>

namespace distribute::net {

struct TlsHandshake::Impl {
  explicit Impl(int the_descriptor) : descriptor(the_descriptor), wire(the_descriptor) {}

  bool by_certificates() const { return context->impl().key.empty(); }
  absl::Status step();
  absl::Status failure();
  absl::Status bad_certificate();
  absl::Status no_agreement(const std::string& reason);

  std::shared_ptr<const TlsContext> context;
  int descriptor;
  net_internal::TlsWire wire;
  net_internal::TlsNegotiation negotiation;
  net_internal::SslPtr ssl;
  bool server = false, agreed = false;
};

/// Requires that a server's certificate is for the address to which the client has connected.
DISTRIBUTE_INLINE void expect_host(SSL* ssl, const std::string& host) {
  X509_VERIFY_PARAM* wanted = ::SSL_get0_param(ssl);
  ::X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (::X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1)
    ::X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), 0);
}

DISTRIBUTE_INLINE TlsHandshake::TlsHandshake(std::shared_ptr<const TlsContext> context, Role role,
                                             int descriptor, const std::string& host)
    : impl_(std::make_unique<Impl>(descriptor)) {
  const TlsContext::Impl& settings = context->impl();
  impl_->context = std::move(context);
  impl_->server = role == Role::Server;
  impl_->ssl.reset(::SSL_new(settings.context.get()));
  SSL* ssl = impl_->ssl.get();
  BIO* bio = ::BIO_new(settings.method.get());
  if (!ssl || !bio) throw ResourceExhaustedError("OpenSSL has no memory for a connection");
  ::BIO_set_data(bio, &impl_->wire);
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl, bio, bio);  // owns the bio from now on
  SSL_set_app_data(ssl, &impl_->negotiation);
  if (impl_->server)
    ::SSL_set_accept_state(ssl);
  else
    ::SSL_set_connect_state(ssl);
  if (!impl_->server && impl_->by_certificates()) expect_host(ssl, host);
}

DISTRIBUTE_INLINE TlsHandshake::~TlsHandshake() = default;

DISTRIBUTE_INLINE absl::Status TlsHandshake::Impl::step() {
  ::ERR_clear_error();
  const int result = ::SSL_do_handshake(ssl.get());
  if (result != 1)
    return ::SSL_get_error(ssl.get(), result) == SSL_ERROR_WANT_READ ? absl::OkStatus() : failure();
  if (::SSL_version(ssl.get()) != TLS1_3_VERSION || negotiation.from_client.empty() ||
      negotiation.from_server.empty())
    return absl::InternalError("OpenSSL has made a connection that is not TLS 1.3");
  if (!by_certificates() && ::SSL_session_reused(ssl.get()) != 1)
    return absl::UnauthenticatedError("the other side has not used the job's token");
  agreed = true;
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status TlsHandshake::advance() {
  const absl::Status status = impl_->agreed ? absl::OkStatus() : impl_->step();
  // also sends the alert of a failure to the other side
  const absl::Status sent = impl_->wire.flush();
  return status.ok() ? sent : status;
}

DISTRIBUTE_INLINE bool TlsHandshake::finished() const {
  return impl_->agreed && impl_->wire.waiting() == 0;
}

DISTRIBUTE_INLINE short TlsHandshake::events() const {
  return short(impl_->wire.waiting() == 0 ? POLLIN : POLLIN | POLLOUT);
}

DISTRIBUTE_INLINE std::unique_ptr<SecureLayer> TlsHandshake::take_layer() {
  constexpr std::string_view kLabel = "EXPORTER-Channel-Binding";
  net_internal::TlsStart start;
  start.descriptor = impl_->descriptor;
  start.bytes_per_key = impl_->context->impl().options.bytes_per_key;
  start.fast = impl_->context->impl().fast;
  start.sending =
      std::move(impl_->server ? impl_->negotiation.from_server : impl_->negotiation.from_client);
  start.receiving =
      std::move(impl_->server ? impl_->negotiation.from_client : impl_->negotiation.from_server);
  start.binding.resize(32);
  if (::SSL_export_keying_material(
          impl_->ssl.get(), reinterpret_cast<unsigned char*>(start.binding.data()),
          start.binding.size(), kLabel.data(), kLabel.size(), nullptr, 0, 0) != 1)
    throw InternalError("OpenSSL gives no binding for a connection");
  return std::make_unique<net_internal::TlsLayer>(std::move(start));
}

DISTRIBUTE_INLINE absl::Status TlsHandshake::Impl::bad_certificate() {
  if (!by_certificates())
    return absl::UnauthenticatedError(
        "it shows a certificate where the job's token is wanted: set DISTRIBUTE_TLS_CERT, _KEY and "
        "_CA in all tasks or in none");
  const long result = ::SSL_get_verify_result(ssl.get());
  const bool host =
      result == X509_V_ERR_HOSTNAME_MISMATCH || result == X509_V_ERR_IP_ADDRESS_MISMATCH;
  return absl::UnauthenticatedError(
      str_cat("its certificate is not accepted: ", ::X509_verify_cert_error_string(result),
              host ? "; it must name the address that the cluster gives this task"
                   : "; it must be valid and signed by an authority in DISTRIBUTE_TLS_CA"));
}

DISTRIBUTE_INLINE absl::Status TlsHandshake::Impl::no_agreement(const std::string& reason) {
  if (by_certificates())
    return absl::UnauthenticatedError(
        str_cat("no certificate has come from the other side, or none that fits (", reason,
                "): set DISTRIBUTE_TLS_CERT, _KEY and _CA in all tasks or in none"));
  const std::string who = negotiation.peer_name.empty()
                              ? "the other side"
                              : untrusted::printable(negotiation.peer_name, 80);
  return absl::UnauthenticatedError(str_cat(
      who,
      " does not know the token of this job: it belongs to another job, or "
      "DISTRIBUTE_JOB_TOKEN differs between the tasks, or only one side uses certificates (",
      reason, ")"));
}

/// Makes an error with the text of OpenSSL's queue and a cure.
DISTRIBUTE_INLINE absl::Status TlsHandshake::Impl::failure() {
  if (absl::Status lost = wire.failure(); !lost.ok()) return lost;
  const int code = ERR_GET_REASON(::ERR_peek_error());
  const char* text = ::ERR_reason_error_string(::ERR_peek_error());
  const std::string reason = text ? text : "no reason given";
  ::ERR_clear_error();
  const int alert = code - SSL_AD_REASON_OFFSET;
  if (net_internal::is_about_certificates(alert))
    return net_internal::own_certificate_refused(reason);
  return code == SSL_R_CERTIFICATE_VERIFY_FAILED ? bad_certificate() : no_agreement(reason);
}

}  // namespace distribute::net
#endif
