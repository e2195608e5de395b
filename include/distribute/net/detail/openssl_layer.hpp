#pragma once
/// An encrypted connection after its handshake: OpenSSL makes and reads the records.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/secure_layer.hpp>
#include <distribute/net/detail/tls_connection.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace distribute::net_internal {

/// Whether an alert of the other side is about this side's certificate (RFC 8446, 6.2).
bool is_about_certificates(int alert);
/// The error for a certificate of this task that the other side refuses.
absl::Status own_certificate_refused(const std::string& reason);

/// Thread-safe as its interface says. OpenSSL serves one thread at a time for each connection, so
/// that a thread that reads and one that writes take turns; a call handles at most kBatch bytes
/// of received data.
class OpensslLayer final : public net::SecureLayer {
 public:
  /// `connection` has finished its handshake.
  OpensslLayer(std::unique_ptr<TlsConnection> connection, std::string binding);

  DISTRIBUTE_INLINE absl::StatusOr<size_t> read_some(std::span<std::byte> first,
                                                     std::span<std::byte> second) override;
  DISTRIBUTE_INLINE absl::StatusOr<size_t> write_some(std::span<const std::byte> first,
                                                      std::span<const std::byte> second) override;
  DISTRIBUTE_INLINE bool has_buffered() const override;
  bool has_ended() const override { return ended_; }
  const std::string& binding() const override { return binding_; }

 private:
  static constexpr size_t kBatch = 4 * SSL3_RT_MAX_PLAIN_LENGTH;

  size_t decrypt(std::span<std::byte> out);
  absl::Status encrypt(std::span<const std::byte> bytes);
  absl::Status change_key();
  absl::Status failure_of(int error);

  const uint64_t bytes_per_key_;
  const std::string binding_;
  std::atomic<bool> ended_{false};

  mutable std::mutex mutex_;  // guards the rest
  const std::unique_ptr<TlsConnection> connection_;
  absl::Status failure_;    // of reading; it is reported after the data that came before it
  size_t unreported_ = 0;   // bytes of the caller that wait in the wire as records
  uint64_t since_key_ = 0;  // bytes that the present key has encrypted
};

}  // namespace distribute::net_internal
