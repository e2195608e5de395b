#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/error.hpp>
#include <distribute/net/detail/tls_connection.hpp>

namespace distribute::net_internal {

DISTRIBUTE_INLINE TlsConnection::TlsConnection(std::shared_ptr<const net::TlsContext> the_context,
                                               int descriptor)
    : context(std::move(the_context)),
      wire(descriptor),
      ssl(::SSL_new(context->impl().context.get())) {
  BIO* bio = ::BIO_new(context->impl().method.get());
  if (!ssl || !bio) {
    ::BIO_free(bio);
    throw ResourceExhaustedError("OpenSSL has no memory for a connection");
  }
  ::BIO_set_data(bio, &wire);
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl.get(), bio, bio);  // which owns it now
  SSL_set_app_data(ssl.get(), &negotiation);
}

}  // namespace distribute::net_internal
#endif
