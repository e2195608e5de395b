#pragma once
/// Tools of algorithms over messages: reused memory, long messages in pieces, parts.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/messages.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace distribute::collective {

/// Memory that is kept from one operation to the next. Thread-compatible.
class Scratch {
 public:
  /// Returns uninitialized memory; memory returned before becomes invalid.
  std::byte* take(int64_t bytes);

 private:
  std::unique_ptr<std::byte[]> memory_;
  int64_t bytes_ = 0;
};

/// An array cut into parts, one for each rank, and each part into segments. Positions and sizes
/// count elements.
class Parts {
 public:
  Parts(std::span<const int64_t> counts, int64_t segment);
  /// Makes `ranks` parts whose sizes differ by at most one element.
  static Parts equal(int64_t count, int ranks, int64_t segment);

  int64_t begin(int part) const { return begins_[size_t(part)]; }
  int64_t count(int part) const { return begins_[size_t(part) + 1] - begins_[size_t(part)]; }
  int64_t segment() const { return segment_; }
  /// Returns at least 1: an empty part has an empty segment, so that its owner gets a message.
  int64_t segments(int part) const;
  /// Returns where segment `number` begins within the whole array; segment_count() its elements.
  int64_t segment_begin(int part, int64_t number) const { return begin(part) + number * segment_; }
  int64_t segment_count(int part, int64_t number) const;

 private:
  std::vector<int64_t> begins_;
  int64_t segment_;
};

/// Sends a message in pieces, so that several flows carry it; both ends must cut alike.
void send_in_pieces(Messages& messages, int to, std::span<const std::byte> bytes,
                    int64_t piece_bytes);
void receive_in_pieces(Messages& messages, int from, std::span<std::byte> out, int64_t piece_bytes);

inline std::span<const std::byte> bytes_at(const void* data, int64_t offset, int64_t bytes) {
  return {static_cast<const std::byte*>(data) + offset, size_t(bytes)};
}
inline std::span<std::byte> bytes_at(void* data, int64_t offset, int64_t bytes) {
  return {static_cast<std::byte*>(data) + offset, size_t(bytes)};
}

/// Does nothing for the same memory or no bytes.
void copy_bytes(void* to, const void* from, int64_t bytes);

}  // namespace distribute::collective
