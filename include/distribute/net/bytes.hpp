#pragma once
/// Numbers and texts as bytes of a message: little-endian, texts with their length in front.

#include <distribute/base/config.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace distribute::net {

/// Builds a message. Thread-compatible.
class ByteWriter {
 public:
  template <std::integral T>
  ByteWriter& number(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes_ += char(uint64_t(value) >> (8 * i));
    return *this;
  }
  ByteWriter& text(std::string_view value) {
    number(uint32_t(value.size()));
    bytes_ += value;
    return *this;
  }
  /// Bytes as they are, without their number.
  ByteWriter& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads an untrusted message: past its end, or over a limit, every value is 0 or empty and
/// ok() is false from then on. Borrows the bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  /// The next number, little-endian; 0 where the bytes have ended, and then ok() is false.
  template <std::integral T>
  T number() {
    if (!has(sizeof(T))) return 0;
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value |= uint64_t(uint8_t(bytes_[i])) << (8 * i);
    bytes_.remove_prefix(sizeof(T));
    return T(value);
  }
  /// The next text, of at most `most` bytes; empty where it does not fit, and then ok() is false.
  std::string_view text(size_t most = std::numeric_limits<uint32_t>::max()) {
    const size_t size = number<uint32_t>();
    ok_ = ok_ && size <= most;
    if (!has(size)) return {};
    const std::string_view value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return value;
  }
  /// Whether everything so far was there.
  bool ok() const { return ok_; }
  /// Everything was read, and nothing is left.
  bool finished() const { return ok_ && bytes_.empty(); }

 private:
  bool has(size_t size) { return ok_ = ok_ && bytes_.size() >= size; }

  std::string_view bytes_;
  bool ok_ = true;
};

/// `text` from a stranger, fit for one line of a log: all but printable ASCII and letters of
/// scripts from left to right is escaped, as in "\x1b" and "\u202e"; long texts are cut.
std::string printable(std::string_view text, size_t most = 512);

}  // namespace distribute::net
