#pragma once
#if DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/error.hpp>
#include <distribute/net/detail/tls_records.hpp>

#include <algorithm>
#include <string_view>

#include <openssl/kdf.h>

namespace distribute::net_internal {

DISTRIBUTE_INLINE Secret hkdf(const std::string& key, const std::string& info, size_t size,
                              bool extracted) {
  std::string out(size, '\0');
  const DerivationPtr context(::EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  const int mode =
      extracted ? EVP_PKEY_HKDEF_MODE_EXPAND_ONLY : EVP_PKEY_HKDEF_MODE_EXTRACT_AND_EXPAND;
  const bool done =
      context && ::EVP_PKEY_derive_init(context.get()) > 0 &&
      ::EVP_PKEY_CTX_set_hkdf_mode(context.get(), mode) > 0 &&
      ::EVP_PKEY_CTX_set_hkdf_md(context.get(), ::EVP_sha256()) > 0 &&
      ::EVP_PKEY_CTX_set1_hkdf_key(context.get(), bytes(key), int(key.size())) > 0 &&
      ::EVP_PKEY_CTX_add1_hkdf_info(context.get(), bytes(info), int(info.size())) > 0 &&
      ::EVP_PKEY_derive(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size) > 0;
  return done && size == out.size() ? Secret(std::move(out)) : Secret();
}

/// Computes HKDF-Expand-Label with an empty context (RFC 8446, 7.1).
DISTRIBUTE_INLINE Secret expand_label(const Secret& secret, std::string_view label, size_t size) {
  std::string info = {char(size >> 8), char(size), char(6 + label.size())};
  info += "tls13 ";
  info += label;
  info += '\0';
  return hkdf(secret.bytes(), info, size, true);
}

DISTRIBUTE_INLINE TlsRecords::TlsRecords(Direction direction, Secret secret,
                                         std::shared_ptr<const FastGcm> fast)
    : direction_(direction), fast_(std::move(fast)), cipher_(::EVP_CIPHER_CTX_new()) {
  if (!cipher_ || !use(std::move(secret)).ok())
    throw ResourceExhaustedError("OpenSSL could not make a key for a connection");
}

DISTRIBUTE_INLINE absl::Status TlsRecords::use(Secret secret) {
  const Secret key = expand_label(secret, "key", 16), iv = expand_label(secret, "iv", iv_.size());
  const int sealing = direction_ == Direction::Seal ? 1 : 0;
  if (key.empty() || iv.empty() ||
      ::EVP_CipherInit_ex(cipher_.get(), ::EVP_aes_128_gcm(), nullptr, key.data(), nullptr,
                          sealing) != 1)
    return absl::InternalError("OpenSSL could not make a key for a connection");
  if (fast_) fast_key_ = fast_->make_key(key.data());
  std::copy_n(iv.data(), iv_.size(), iv_.begin());
  secret_ = std::move(secret);
  number_ = 0;
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status TlsRecords::next_key() {
  Secret next = expand_label(secret_, "traffic upd", 32);
  if (next.empty()) return absl::InternalError("OpenSSL could not make a new key");
  return use(std::move(next));
}

/// Makes the nonce from the number of the record.
DISTRIBUTE_INLINE std::array<unsigned char, 12> TlsRecords::next_nonce() {
  auto nonce = iv_;
  for (size_t i = 0; i < 8; ++i) nonce[11 - i] ^= (unsigned char)(number_ >> (8 * i));
  ++number_;
  return nonce;
}

DISTRIBUTE_INLINE bool TlsRecords::begin(const unsigned char* header) {
  int size = 0;
  return ::EVP_CipherInit_ex(cipher_.get(), nullptr, nullptr, nullptr, next_nonce().data(), -1) ==
             1 &&
         ::EVP_CipherUpdate(cipher_.get(), nullptr, &size, header, kRecordHeader) == 1;
}

DISTRIBUTE_INLINE bool TlsRecords::seal_slowly(std::span<const std::byte> content,
                                               unsigned char type, unsigned char* out) {
  unsigned char* const text = out + kRecordHeader;
  unsigned char* const tag = text + content.size() + 1;
  const auto* bytes = reinterpret_cast<const unsigned char*>(content.data());
  int size = 0;
  return begin(out) &&
         ::EVP_CipherUpdate(cipher_.get(), text, &size, bytes, int(content.size())) == 1 &&
         ::EVP_CipherUpdate(cipher_.get(), text + content.size(), &size, &type, 1) == 1 &&
         ::EVP_CipherFinal_ex(cipher_.get(), tag, &size) == 1 &&
         ::EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
}

DISTRIBUTE_INLINE absl::Status TlsRecords::seal(RecordType type, std::span<const std::byte> content,
                                                std::byte* out) {
  auto* header = reinterpret_cast<unsigned char*>(out);
  const size_t length = content.size() + kRecordExtra - kRecordHeader;
  header[0] = uint8_t(RecordType::Data);
  header[1] = header[2] = 3;
  header[3] = (unsigned char)(length >> 8);
  header[4] = (unsigned char)(length);
  const auto last = static_cast<unsigned char>(type);
  if (fast_) {
    fast_->seal(fast_key_.get(), {next_nonce().data(), header}, content, last, out + kRecordHeader);
    return absl::OkStatus();
  }
  return seal_slowly(content, last, header) ? absl::OkStatus()
                                            : absl::InternalError("OpenSSL could not encrypt");
}

DISTRIBUTE_INLINE bool TlsRecords::open_slowly(std::span<const std::byte> record,
                                               unsigned char* out, unsigned char& type) {
  const auto* header = reinterpret_cast<const unsigned char*>(record.data());
  const unsigned char* const text = header + kRecordHeader;
  const size_t content = record.size() - kRecordExtra;
  auto* tag = const_cast<unsigned char*>(text + content + 1);
  unsigned char nothing[16];
  int size = 0;
  return begin(header) && ::EVP_CipherUpdate(cipher_.get(), out, &size, text, int(content)) == 1 &&
         ::EVP_CipherUpdate(cipher_.get(), &type, &size, text + content, 1) == 1 &&
         ::EVP_CIPHER_CTX_ctrl(cipher_.get(), EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1 &&
         ::EVP_CipherFinal_ex(cipher_.get(), nothing, &size) == 1;
}

DISTRIBUTE_INLINE absl::StatusOr<TlsRecords::Content> TlsRecords::open(
    std::span<const std::byte> record, std::byte* out) {
  const auto* header = reinterpret_cast<const unsigned char*>(record.data());
  auto* text = reinterpret_cast<unsigned char*>(out);
  unsigned char type = 0;
  const bool right = fast_ ? fast_->open(fast_key_.get(), {next_nonce().data(), header},
                                         record.subspan(kRecordHeader), out, type)
                           : open_slowly(record, text, type);
  if (!right) return absl::DataLossError("it sent bytes that were changed on their way");
  size_t content = record.size() - kRecordExtra;
  while (type == 0 && content > 0) type = text[--content];  // padding
  return Content{RecordType(type), content};
}

}  // namespace distribute::net_internal
#endif
