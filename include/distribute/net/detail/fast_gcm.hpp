#pragma once
/// AES-128-GCM by Intel's library (libipsec-mb), which on some CPUs is twice as fast as OpenSSL.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace distribute::net_internal {

/// Data that authenticates a record in addition to its bytes.
struct GcmNonce {
  const unsigned char* nonce;   // 12 bytes; never the same twice with one key
  const unsigned char* header;  // 5 bytes, authenticated
};

/// Immutable, thread-safe.
class FastGcm {
 public:
  struct Impl;

  /// Makes the cipher; null in a build without the library, and on a CPU without VAES.
  static std::shared_ptr<const FastGcm> make();
  explicit FastGcm(std::unique_ptr<Impl> impl);
  ~FastGcm();

  /// Expands a key of 16 bytes for the functions below. The destructor overwrites the expanded key.
  std::shared_ptr<const void> make_key(const unsigned char* key) const;
  /// Encrypts `content` and the byte after it; `out` receives both and the tag of 16 bytes.
  void seal(const void* key, const GcmNonce& nonce, std::span<const std::byte> content,
            unsigned char last, std::byte* out) const;
  /// Decrypts `text`, which ends with the last byte and the tag. Returns false when the tag is
  /// wrong; `out` is then meaningless.
  bool open(const void* key, const GcmNonce& nonce, std::span<const std::byte> text, std::byte* out,
            unsigned char& last) const;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::net_internal
