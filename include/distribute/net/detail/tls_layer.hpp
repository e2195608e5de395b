#pragma once
/// An encrypted connection: the records of both directions, and how they reach the descriptor.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/secure_layer.hpp>
#include <distribute/net/detail/tls_records.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <openssl/ssl.h>

namespace distribute::net_internal {

/// Whether an alert of the other side concerns this side's certificate (RFC 8446, 6.2).
bool is_about_certificates(int alert);
absl::Status own_certificate_refused(const std::string& reason);

/// The state of a connection at the end of the handshake.
struct TlsStart {
  int descriptor = -1;
  Secret sending, receiving;
  std::string binding;
  uint64_t bytes_per_key = 0;
  std::shared_ptr<const FastGcm> fast;
};

/// The two directions share only the descriptor, so that a reading and a writing thread do not wait
/// for each other. Each direction encrypts or decrypts directly between the caller's memory and a
/// block that stays in the cache; one system call moves the block.
class TlsLayer final : public net::SecureLayer {
 public:
  explicit TlsLayer(TlsStart start);

  DISTRIBUTE_INLINE absl::StatusOr<size_t> read_some(std::span<std::byte> first,
                                                     std::span<std::byte> second) override;
  DISTRIBUTE_INLINE absl::StatusOr<size_t> write_some(std::span<const std::byte> first,
                                                      std::span<const std::byte> second) override;
  DISTRIBUTE_INLINE bool has_buffered() const override;
  bool has_ended() const override { return ended_; }
  const std::string& binding() const override { return binding_; }

 private:
  static constexpr size_t kRecords = 4;  // number of records in a block
  static constexpr size_t kBlock = kRecords * (kRecordContent + kRecordExtra);
  static constexpr size_t kRoom = kBlock + kRecordHeader + kRecordMost;

  std::span<const std::byte> next_record();
  bool receive();
  size_t decrypt(std::span<const std::byte> record, std::span<std::byte> out);
  size_t spill(std::span<std::byte> out);
  void take_message(RecordType type, std::span<const std::byte> content);
  void take_alert(int alert);
  void tell_failure();

  absl::Status flush();
  absl::Status encrypt(std::span<const std::byte> bytes);
  absl::Status change_key();

  const int descriptor_;
  const uint64_t bytes_per_key_;
  const std::string binding_;
  std::atomic<bool> ended_{false}, wants_key_{false};

  mutable std::mutex read_mutex_;  // guards the members up to write_mutex_
  TlsRecords receiving_;
  std::unique_ptr<std::byte[]> in_, spilled_;
  size_t in_begin_ = 0, in_end_ = 0;  // records, the last may be incomplete
  /// rest of a record that did not fit into the caller's memory
  size_t spill_begin_ = 0, spill_end_ = 0;
  absl::Status failure_;  // the error that follows the bytes before it

  std::mutex write_mutex_;  // guards the members below
  TlsRecords sending_;
  std::unique_ptr<std::byte[]> out_;
  size_t out_begin_ = 0, out_end_ = 0;
  size_t unreported_ = 0;   // number of the caller's bytes in out_
  uint64_t since_key_ = 0;  // bytes encrypted with the current key
};

}  // namespace distribute::net_internal
