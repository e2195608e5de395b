#pragma once
/// Messages on a stream: a header with magic, protocol version, type and bounded length, then the
/// payload. Tasks of different protocol versions recognise each other by this header.

#include <distribute/net/message.hpp>
#include <distribute/net/socket.hpp>

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::net {

/// The version of all messages between tasks, which docs/protocol.md lists. It changes when any
/// message does. Every frame contains it, so that the handshake refuses tasks of another version.
inline constexpr uint16_t kProtocolVersion = 2;
inline constexpr uint32_t kFrameMagic = 0x42545344;  // "DSTB" on the wire
inline constexpr size_t kFrameHeaderBytes = 16;

/// The header before the payload of each message.
struct FrameHeader {
  uint32_t magic = kFrameMagic;
  uint16_t version = kProtocolVersion;
  uint16_t type = 0;
  uint64_t length = 0;

  /// Shows the members in the order in which they are sent.
  void fields(FieldVisitor& visit) {
    visit("magic", magic)("version", version)("type", type)("length", length);
  }
};

/// A message as type and payload; the receiver finds the message by its type.
struct Frame {
  uint16_t type = 0;
  std::string payload;
};

/// Gives header and payload in one string.
std::string encode_frame(uint16_t type, std::string_view payload,
                         uint16_t version = kProtocolVersion);

/// Does what encode_frame_of() does, without a template parameter.
std::string encode_frame_fields(uint16_t type, const FieldsRef& message, uint16_t version);

/// Gives header and message in one string.
template <Field T>
std::string encode_frame_of(uint16_t type, const T& message, uint16_t version = kProtocolVersion) {
  return encode_frame_fields(type, FieldsRef(const_cast<T&>(message)), version);
}

/// Parses a header from kFrameHeaderBytes bytes.
/// Errors  InvalidArgument when these are not a header or the payload is longer than `most`;
///         FailedPrecondition for another protocol version.
absl::StatusOr<FrameHeader> parse_frame_header(std::string_view bytes, uint64_t most,
                                               uint16_t version = kProtocolVersion);

/// Collects one frame from pieces of any size, and never asks for a byte after it.
/// Thread-compatible.
class FrameReader {
 public:
  /// Refuses payloads over `most` bytes before it allocates memory for them.
  explicit FrameReader(uint64_t most, uint16_t version = kProtocolVersion)
      : most_(most), version_(version) {}

  /// Returns the place for the next bytes; empty when the frame is complete.
  std::span<std::byte> space();
  /// Says that `count` bytes were written to space(). Errors  as parse_frame_header().
  absl::Status filled(size_t count);
  bool complete() const { return has_header_ && done_ == frame_.payload.size(); }
  /// Returns whether a part of a frame has arrived.
  bool started() const { return has_header_ || done_ > 0; }
  /// Returns the protocol version of a frame that filled() has refused; 0 when the bytes were not a
  /// frame.
  uint16_t refused_version() const;
  /// Takes the complete frame; the reader then waits for the next one.
  Frame take();

 private:
  uint64_t most_;
  uint16_t version_;
  std::array<char, kFrameHeaderBytes> header_{};
  bool has_header_ = false;
  size_t done_ = 0;  // number of bytes of the header, then of the payload
  Frame frame_;
};

/// Writes one frame.
/// Errors  as Socket::write().
absl::Status write_frame(Socket& socket, uint16_t type, std::string_view payload,
                         Deadline deadline);
/// Reads one frame.
/// Errors  as Socket::read() and parse_frame_header().
absl::StatusOr<Frame> read_frame(Socket& socket, uint64_t most, Deadline deadline);

}  // namespace distribute::net
