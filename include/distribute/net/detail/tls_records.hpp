#pragma once
/// One direction of a TLS 1.3 connection: records with AES-128-GCM (RFC 8446, 5.2).

#include <distribute/base/config.hpp>
#include <distribute/net/detail/tls_openssl.hpp>

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <openssl/evp.h>

namespace distribute::net_internal {

inline constexpr size_t kRecordContent = 16384;  // largest content of a record
inline constexpr size_t kRecordHeader = 5;
inline constexpr size_t kRecordExtra = kRecordHeader + 1 + 16;  // record header, type and tag
/// The largest number of bytes after the header of a received record.
inline constexpr size_t kRecordMost = kRecordContent + 256;

enum class RecordType : uint8_t { Alert = 21, Handshake = 22, Data = 23 };

/// Encrypts or decrypts from memory to memory without an intermediate copy. OpenSSL's own records
/// cost two more copies in each direction, a fifth of the time of a large all-reduce.
/// Thread-compatible.
class TlsRecords {
 public:
  enum class Direction { Seal, Open };
  struct Content {
    RecordType type;
    size_t size;
  };

  /// `secret` is the direction's "application traffic secret"; a null `fast` selects OpenSSL's
  /// cipher.
  TlsRecords(Direction direction, Secret secret, std::shared_ptr<const FastGcm> fast);

  /// Encrypts a record: writes content.size() + kRecordExtra bytes. Errors: Internal.
  absl::Status seal(RecordType type, std::span<const std::byte> content, std::byte* out);
  /// Decrypts `record`, given with its header. `out` needs room for record.size() - kRecordExtra
  /// bytes and is meaningless after an error.
  /// Errors  DataLoss when the record is not what the other side has sent.
  absl::StatusOr<Content> open(std::span<const std::byte> record, std::byte* out);
  /// Takes a new key from the next record on. Errors: Internal.
  absl::Status next_key();

 private:
  absl::Status use(Secret secret);
  std::array<unsigned char, 12> next_nonce();
  bool begin(const unsigned char* header);
  bool seal_slowly(std::span<const std::byte> content, unsigned char type, unsigned char* out);
  bool open_slowly(std::span<const std::byte> record, unsigned char* out, unsigned char& type);

  const Direction direction_;
  Secret secret_;
  const std::shared_ptr<const FastGcm> fast_;
  std::shared_ptr<const void> fast_key_;
  CipherPtr cipher_;  // used when there is no fast cipher
  std::array<unsigned char, 12> iv_{};
  uint64_t number_ = 0;  // number of the next record under this key
};

}  // namespace distribute::net_internal
