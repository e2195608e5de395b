#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/error.hpp>
#include <distribute/net/detail/tls_layer.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace distribute::net_internal {

DISTRIBUTE_INLINE bool is_about_certificates(int alert) {
  return (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN) ||
         alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_CERTIFICATE_REQUIRED;
}

DISTRIBUTE_INLINE absl::Status own_certificate_refused(const std::string& reason) {
  return absl::UnauthenticatedError(
      str_cat("it does not accept this task's certificate (DISTRIBUTE_TLS_CERT): ", reason));
}

DISTRIBUTE_INLINE TlsLayer::TlsLayer(TlsStart start)
    : descriptor_(start.descriptor),
      bytes_per_key_(start.bytes_per_key),
      binding_(std::move(start.binding)),
      receiving_(TlsRecords::Direction::Open, std::move(start.receiving), start.fast),
      in_(new std::byte[kRoom]),
      sending_(TlsRecords::Direction::Seal, std::move(start.sending), start.fast),
      out_(new std::byte[kBlock + 4 * kRecordExtra]) {}

/// Gives the next whole record in in_; empty when there is none. failure_ is then set if no more
/// will come.
DISTRIBUTE_INLINE std::span<const std::byte> TlsLayer::next_record() {
  const auto* header = reinterpret_cast<const unsigned char*>(in_.get()) + in_begin_;
  if (in_end_ - in_begin_ < kRecordHeader) return {};
  const size_t length = size_t(header[3]) << 8 | header[4];
  if (header[0] != uint8_t(RecordType::Data) || header[1] != 3 || header[2] != 3 ||
      length > kRecordMost || length < kRecordExtra - kRecordHeader) {
    failure_ = absl::DataLossError("it sent bytes that were changed on their way");
    return {};
  }
  if (in_end_ - in_begin_ < kRecordHeader + length) return {};
  return {in_.get() + in_begin_, kRecordHeader + length};
}

/// Reads from the descriptor; returns whether bytes have arrived.
DISTRIBUTE_INLINE bool TlsLayer::receive() {
  if (in_begin_ > 0) {
    std::memmove(in_.get(), in_.get() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  const ssize_t got = ::recv(descriptor_, in_.get() + in_end_, kRoom - in_end_, MSG_DONTWAIT);
  if (got > 0) in_end_ += size_t(got);
  if (got == 0) {
    ended_ = true;
    failure_ = absl::UnavailableError("has closed the connection");
  }
  if (got < 0 && errno != EAGAIN && errno != EINTR)
    failure_ = absl::UnavailableError(std::strerror(errno));
  return got > 0;
}

DISTRIBUTE_INLINE size_t TlsLayer::spill(std::span<std::byte> out) {
  const size_t count = std::min(out.size(), spill_end_ - spill_begin_);
  if (count > 0) std::memcpy(out.data(), spilled_.get() + spill_begin_, count);
  spill_begin_ += count;
  return count;
}

DISTRIBUTE_INLINE void TlsLayer::take_alert(int alert) {
  const std::string reason = ::SSL_alert_desc_string_long(alert);
  if (alert == SSL_AD_CLOSE_NOTIFY) {
    ended_ = true;
    failure_ = absl::UnavailableError("has closed the connection");
  } else if (is_about_certificates(alert)) {
    failure_ = own_certificate_refused(reason);
  } else {
    failure_ = absl::DataLossError(
        str_cat("it has got bytes that were changed on their way, and gave up: ", reason));
  }
}

/// Handles messages other than data: alerts, new keys, and what other implementations may send.
DISTRIBUTE_INLINE void TlsLayer::take_message(RecordType type, std::span<const std::byte> content) {
  constexpr std::byte kKeyUpdate{SSL3_MT_KEY_UPDATE}, kTicket{SSL3_MT_NEWSESSION_TICKET};
  if (type == RecordType::Alert && content.size() == 2) return take_alert(int(content[1]));
  const bool handshake = type == RecordType::Handshake && !content.empty();
  if (handshake && content[0] == kTicket) return;
  if (handshake && content[0] == kKeyUpdate && content.size() == 5) {
    failure_ = receiving_.next_key();
    if (content[4] == std::byte{1}) wants_key_ = true;
    return;
  }
  failure_ = absl::DataLossError("it sent a TLS message that does not belong here");
}

/// Decrypts into `out`, or into a buffer if that is too small. Returns the number of data bytes in
/// `out`.
DISTRIBUTE_INLINE size_t TlsLayer::decrypt(std::span<const std::byte> record,
                                           std::span<std::byte> out) {
  const bool aside = out.size() < record.size() - kRecordExtra;
  if (aside && !spilled_) spilled_.reset(new std::byte[kRecordMost]);
  std::byte* const target = aside ? spilled_.get() : out.data();
  const auto content = receiving_.open(record, target);
  in_begin_ += record.size();
  if (!content.ok()) {
    failure_ = content.status();
    tell_failure();
    return 0;
  }
  if (content->type != RecordType::Data) {
    take_message(content->type, {target, content->size});
    return 0;
  }
  if (!aside) return content->size;
  spill_begin_ = 0;
  spill_end_ = content->size;
  return spill(out);
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> TlsLayer::read_some(std::span<std::byte> first,
                                                             std::span<std::byte> second) {
  const std::lock_guard lock(read_mutex_);
  size_t got = spill(first);
  if (got == first.size()) got += spill(second);
  while (failure_.ok() && got < first.size() + second.size()) {
    const auto out = got < first.size() ? first.subspan(got) : second.subspan(got - first.size());
    const auto record = next_record();
    if (record.empty()) {
      if (got > 0 || !failure_.ok() || !receive()) break;
      continue;
    }
    // the next call decrypts without a copy
    if (got > 0 && out.size() < record.size() - kRecordExtra) break;
    got += decrypt(record, out);
    if (got == first.size()) got += spill(second);
  }
  if (got > 0 || failure_.ok()) return got;
  return failure_;
}

DISTRIBUTE_INLINE bool TlsLayer::has_buffered() const {
  const std::lock_guard lock(read_mutex_);
  if (spill_begin_ < spill_end_ || !failure_.ok()) return true;
  return !const_cast<TlsLayer*>(this)->next_record().empty();
}

/// Hands the system as much as it takes.
DISTRIBUTE_INLINE absl::Status TlsLayer::flush() {
  while (out_begin_ < out_end_) {
    const ssize_t sent = ::send(descriptor_, out_.get() + out_begin_, out_end_ - out_begin_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return absl::OkStatus();
    if (sent < 0) return absl::UnavailableError(std::strerror(errno));
    out_begin_ += size_t(sent);
  }
  out_begin_ = out_end_ = 0;
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status TlsLayer::change_key() {
  constexpr std::array<unsigned char, 5> kMessage = {SSL3_MT_KEY_UPDATE, 0, 0, 1, 0};
  absl::Status status = sending_.seal(RecordType::Handshake, std::as_bytes(std::span(kMessage)),
                                      out_.get() + out_end_);
  out_end_ += kMessage.size() + kRecordExtra;
  since_key_ = 0;
  return status.ok() ? sending_.next_key() : status;
}

/// Appends the records of `bytes` to out_.
DISTRIBUTE_INLINE absl::Status TlsLayer::encrypt(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto content = bytes.first(std::min(bytes.size(), kRecordContent));
    absl::Status status = sending_.seal(RecordType::Data, content, out_.get() + out_end_);
    if (!status.ok()) return status;
    out_end_ += content.size() + kRecordExtra;
    unreported_ += content.size();
    since_key_ += content.size();
    bytes = bytes.subspan(content.size());
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::StatusOr<size_t> TlsLayer::write_some(std::span<const std::byte> first,
                                                              std::span<const std::byte> second) {
  const std::lock_guard lock(write_mutex_);
  // leaves room for a short record before it
  constexpr size_t kBatch = (kRecords - 1) * kRecordContent;
  const size_t all = first.size() + second.size();
  for (size_t done = 0;;) {
    if (absl::Status status = flush(); !status.ok()) return status;
    if (out_begin_ < out_end_) return done;
    const size_t reported = std::min(unreported_, all - done);
    unreported_ -= reported;
    done += reported;
    if (done == all) return done;
    absl::Status status;
    if (since_key_ >= bytes_per_key_ || wants_key_.exchange(false)) status = change_key();
    const auto head = first.subspan(std::min(done, first.size()));
    const auto body = second.subspan(done + head.size() - first.size());
    const size_t from_head = std::min(head.size(), kBatch);
    if (status.ok()) status = encrypt(head.first(from_head));
    if (status.ok()) status = encrypt(body.first(std::min(body.size(), kBatch - from_head)));
    if (!status.ok()) return status;
  }
}

/// Sends an alert, so that the other side knows of the error if it still reads.
DISTRIBUTE_INLINE void TlsLayer::tell_failure() {
  const std::lock_guard lock(write_mutex_);
  constexpr std::array<unsigned char, 2> kAlert = {SSL3_AL_FATAL, SSL_AD_BAD_RECORD_MAC};
  if (!flush().ok() || out_begin_ < out_end_) return;
  if (!sending_.seal(RecordType::Alert, std::as_bytes(std::span(kAlert)), out_.get()).ok()) return;
  out_end_ = kAlert.size() + kRecordExtra;
  (void)flush();
}

}  // namespace distribute::net_internal
#endif
