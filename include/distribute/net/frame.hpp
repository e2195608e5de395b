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

/// The version of all messages between tasks; docs/protocol.md lists them. It changes when any of
/// them does. Every frame names it, so that the handshake refuses tasks of another version.
inline constexpr uint16_t kProtocolVersion = 2;
inline constexpr uint32_t kFrameMagic = 0x42545344;  // "DSTB" on the wire
inline constexpr size_t kFrameHeaderBytes = 16;

/// Stands before the payload.
struct FrameHeader {
  uint32_t magic = kFrameMagic;
  uint16_t version = kProtocolVersion;
  uint16_t type = 0;
  uint64_t length = 0;

  /// The order of the members on the wire.
  void fields(FieldVisitor& visit) {
    visit("magic", magic)("version", version)("type", type)("length", length);
  }
};

/// A message whose type its receiver looks up.
struct Frame {
  uint16_t type = 0;
  std::string payload;
};

/// Gives header and payload in one string.
std::string encode_frame(uint16_t type, std::string_view payload,
                         uint16_t version = kProtocolVersion);

/// encode_frame_of() without the message's type.
std::string encode_frame_fields(uint16_t type, const FieldsRef& message, uint16_t version);

/// Gives header and message in one string.
template <Field T>
std::string encode_frame_of(uint16_t type, const T& message, uint16_t version = kProtocolVersion) {
  return encode_frame_fields(type, FieldsRef(const_cast<T&>(message)), version);
}

/// `bytes` are kFrameHeaderBytes.
/// Errors  InvalidArgument when this is no frame or longer than `most`; FailedPrecondition for
///         another protocol version.
absl::StatusOr<FrameHeader> parse_frame_header(std::string_view bytes, uint64_t most,
                                               uint16_t version = kProtocolVersion);

/// Collects one frame from pieces of any size and never asks for a byte beyond it.
/// Thread-compatible.
class FrameReader {
 public:
  /// Refuses payloads over `most` bytes before it reserves memory for them.
  explicit FrameReader(uint64_t most, uint16_t version = kProtocolVersion)
      : most_(most), version_(version) {}

  /// Where the next bytes belong; empty when the frame is complete.
  std::span<std::byte> space();
  /// `count` bytes have been written to space(). Errors as parse_frame_header.
  absl::Status filled(size_t count);
  bool complete() const { return has_header_ && done_ == frame_.payload.size(); }
  /// Whether some, but not all bytes are there.
  bool started() const { return has_header_ || done_ > 0; }
  /// The protocol version of a frame that filled() has refused; 0 for one that is no frame.
  uint16_t refused_version() const;
  /// The complete frame; the reader then waits for the next one.
  Frame take();

 private:
  uint64_t most_;
  uint16_t version_;
  std::array<char, kFrameHeaderBytes> header_{};
  bool has_header_ = false;
  size_t done_ = 0;  // bytes of the header, then of the payload
  Frame frame_;
};

/// Errors  as Socket::write.
absl::Status write_frame(Socket& socket, uint16_t type, std::string_view payload,
                         Deadline deadline);
/// Errors  as Socket::read and parse_frame_header.
absl::StatusOr<Frame> read_frame(Socket& socket, uint64_t most, Deadline deadline);

}  // namespace distribute::net
