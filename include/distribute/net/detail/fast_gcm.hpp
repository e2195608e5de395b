#pragma once
/// AES-128-GCM by Intel's library (libipsec-mb), for CPUs on which it is twice as fast as OpenSSL.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace distribute::net_internal {

/// What a record's bytes are bound to.
struct GcmNonce {
  const unsigned char* nonce;   // 12 bytes, never twice with one key
  const unsigned char* header;  // 5 bytes, authenticated
};

/// Immutable, thread-safe.
class FastGcm {
 public:
  struct Impl;

  /// Null in a build without the library, and on a CPU without VAES.
  static std::shared_ptr<const FastGcm> make();
  explicit FastGcm(std::unique_ptr<Impl> impl);
  ~FastGcm();

  /// 16 bytes made ready for the functions below; overwritten when it goes.
  std::shared_ptr<const void> make_key(const unsigned char* key) const;
  /// Encrypts `content` and the byte behind it; `out` gets both and the tag of 16 bytes.
  void seal(const void* key, const GcmNonce& nonce, std::span<const std::byte> content,
            unsigned char last, std::byte* out) const;
  /// Decrypts `text`, which has the last byte and the tag. False when the tag is wrong; what is in
  /// `out` is then of no use.
  bool open(const void* key, const GcmNonce& nonce, std::span<const std::byte> text, std::byte* out,
            unsigned char& last) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::net_internal
