#pragma once
/// An encrypted connection: the records of both directions, and their way to the descriptor.

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

/// Whether an alert of the other side is about this side's certificate (RFC 8446, 6.2).
bool is_about_certificates(int alert);
absl::Status own_certificate_refused(const std::string& reason);

/// What a connection starts with when the handshake is over.
struct TlsStart {
  int descriptor = -1;
  Secret sending, receiving;
  std::string binding;
  uint64_t bytes_per_key = 0;
  std::shared_ptr<const FastGcm> fast;
};

/// The directions share nothing but the descriptor, so that a thread that reads and one that writes
/// do not wait for each other. Each encrypts or decrypts straight between the caller's memory and a
/// block that stays in the cache and goes through one call of the system.
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
  static constexpr size_t kRecords = 4;  // in a block
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

  mutable std::mutex read_mutex_;  // guards what follows, up to the other one
  TlsRecords receiving_;
  std::unique_ptr<std::byte[]> in_, spilled_;
  size_t in_begin_ = 0, in_end_ = 0;        // records, the last perhaps not whole
  size_t spill_begin_ = 0, spill_end_ = 0;  // of a record that had no room where it belongs
  absl::Status failure_;                    // after what came before it

  std::mutex write_mutex_;  // guards the rest
  TlsRecords sending_;
  std::unique_ptr<std::byte[]> out_;
  size_t out_begin_ = 0, out_end_ = 0;
  size_t unreported_ = 0;   // bytes of the caller's that are in out_
  uint64_t since_key_ = 0;  // bytes that the present key has encrypted
};

}  // namespace distribute::net_internal
