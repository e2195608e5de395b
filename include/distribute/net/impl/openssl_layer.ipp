#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/error.hpp>
#include <distribute/net/detail/openssl_layer.hpp>

#include <algorithm>

#include <openssl/err.h>

namespace distribute::net_internal {

DISTRIBUTE_INLINE OpensslLayer::OpensslLayer(std::unique_ptr<TlsConnection> connection,
                                             std::string binding)
    : bytes_per_key_(connection->context->impl().options.bytes_per_key),
      binding_(std::move(binding)),
      connection_(std::move(connection)) {}

/// The failure behind an error of SSL_read_ex or SSL_write_ex.
DISTRIBUTE_INLINE absl::Status OpensslLayer::failure_of(int error) {
  if (absl::Status lost = connection_->wire.failure(); !lost.ok()) return lost;
  if (error == SSL_ERROR_ZERO_RETURN) return absl::UnavailableError("has closed the connection");
  const int alert = ERR_GET_REASON(::ERR_peek_error()) - SSL_AD_REASON_OFFSET;
  if (alert < 0) return absl::DataLossError("it sent bytes that were changed on their way");
  const std::string reason = ::SSL_alert_desc_string_long(alert);
  if (is_about_certificates(alert)) return own_certificate_refused(reason);
  return absl::DataLossError(
      str_cat("it has got bytes that were changed on their way, and gave up: ", reason));
}

/// Fills `out` with what is there, until failure_.
DISTRIBUTE_INLINE size_t OpensslLayer::decrypt(std::span<std::byte> out) {
  size_t done = 0;
  SSL* const ssl = connection_->ssl.get();
  while (failure_.ok() && done < std::min(out.size(), kBatch)) {
    size_t got = 0;
    ::ERR_clear_error();
    const int result = ::SSL_read_ex(ssl, out.data() + done, out.size() - done, &got);
    const int error = ::SSL_get_error(ssl, result);
    if (error == SSL_ERROR_WANT_READ) break;
    if (result != 1) failure_ = failure_of(error);
    if (error == SSL_ERROR_ZERO_RETURN || connection_->wire.has_ended()) ended_ = true;
    done += got;
  }
  return done;
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> OpensslLayer::read_some(std::span<std::byte> first,
                                                                 std::span<std::byte> second) {
  const std::lock_guard lock(mutex_);
  size_t got = decrypt(first);
  if (got == first.size() && got < kBatch) got += decrypt(second);
  (void)connection_->wire.flush();  // an alert for the other side; the failure is reported anyway
  if (got > 0 || failure_.ok()) return got;
  return failure_;
}

DISTRIBUTE_INLINE bool OpensslLayer::has_buffered() const {
  const std::lock_guard lock(mutex_);
  return ::SSL_pending(connection_->ssl.get()) > 0 || !failure_.ok();
}

DISTRIBUTE_INLINE absl::Status OpensslLayer::change_key() {
  if (::SSL_key_update(connection_->ssl.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1)
    return absl::InternalError("OpenSSL could not make a new key");
  since_key_ = 0;
  return absl::OkStatus();
}

/// Appends the records of `bytes` to the wire.
DISTRIBUTE_INLINE absl::Status OpensslLayer::encrypt(std::span<const std::byte> bytes) {
  if (bytes.empty()) return absl::OkStatus();
  if (since_key_ >= bytes_per_key_)
    if (absl::Status status = change_key(); !status.ok()) return status;
  size_t written = 0;
  ::ERR_clear_error();
  if (::SSL_write_ex(connection_->ssl.get(), bytes.data(), bytes.size(), &written) != 1)
    return failure_.ok() ? absl::InternalError("OpenSSL could not encrypt") : failure_;
  unreported_ += written;
  since_key_ += written;
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> OpensslLayer::write_some(
    std::span<const std::byte> first, std::span<const std::byte> second) {
  const std::lock_guard lock(mutex_);
  const size_t all = first.size() + second.size();
  for (size_t done = 0;;) {
    if (absl::Status status = connection_->wire.flush(); !status.ok()) return status;
    if (connection_->wire.waiting() > 0) return done;
    const size_t reported = std::min(unreported_, all - done);
    unreported_ -= reported;
    done += reported;
    if (done == all) return done;
    const auto head = first.subspan(std::min(done, first.size()));
    const auto body = second.subspan(done + head.size() - first.size());
    const size_t from_head = std::min(head.size(), kBatch);
    absl::Status status = encrypt(head.first(from_head));
    if (status.ok()) status = encrypt(body.first(std::min(body.size(), kBatch - from_head)));
    if (!status.ok()) return status;
  }
}

}  // namespace distribute::net_internal
#endif
