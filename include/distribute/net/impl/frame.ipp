#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/frame.hpp>

namespace distribute::net {

DISTRIBUTE_INLINE std::string encode_frame(uint16_t type, std::string_view payload,
                                           uint16_t version) {
  std::string bytes =
      encode_message(FrameHeader{.version = version, .type = type, .length = payload.size()});
  bytes += payload;
  return bytes;
}

DISTRIBUTE_INLINE std::string encode_frame_fields(uint16_t type, const FieldsRef& message,
                                                  uint16_t version) {
  std::string bytes(kFrameHeaderBytes, '\0');
  append_fields(bytes, message);
  const uint64_t length = bytes.size() - kFrameHeaderBytes;
  const FrameHeader header{.version = version, .type = type, .length = length};
  bytes.replace(0, kFrameHeaderBytes, encode_message(header));
  return bytes;
}

DISTRIBUTE_INLINE absl::StatusOr<FrameHeader> parse_frame_header(std::string_view bytes,
                                                                 uint64_t most, uint16_t version) {
  const auto header = parse_message<FrameHeader>(bytes, "frame");
  if (!header.ok() || header->magic != kFrameMagic)
    return absl::InvalidArgumentError("the bytes are not a message of this library");
  if (header->version != version)
    return absl::FailedPreconditionError(str_cat("protocol version ", header->version,
                                                 " meets version ", version, " of distribute ",
                                                 kVersion, ": run the same build in all tasks"));
  if (header->length > most)
    return absl::InvalidArgumentError(
        str_cat("a message of ", header->length, " bytes where at most ", most, " are allowed"));
  return header;
}

DISTRIBUTE_INLINE std::span<std::byte> FrameReader::space() {
  char* const data = has_header_ ? frame_.payload.data() : header_.data();
  const size_t size = has_header_ ? frame_.payload.size() : header_.size();
  return {reinterpret_cast<std::byte*>(data) + done_, size - done_};
}

DISTRIBUTE_INLINE absl::Status FrameReader::filled(size_t count) {
  done_ += count;
  if (has_header_ || done_ < header_.size()) return absl::OkStatus();
  const auto header = parse_frame_header({header_.data(), header_.size()}, most_, version_);
  if (!header.ok()) return header.status();
  has_header_ = true;
  done_ = 0;
  frame_.type = header->type;
  frame_.payload.resize(header->length);
  return absl::OkStatus();
}

DISTRIBUTE_INLINE uint16_t FrameReader::refused_version() const {
  const auto header = parse_message<FrameHeader>({header_.data(), header_.size()}, "frame");
  return has_header_ || !header.ok() || header->magic != kFrameMagic ? 0 : header->version;
}

DISTRIBUTE_INLINE Frame FrameReader::take() {
  has_header_ = false;
  done_ = 0;
  return std::exchange(frame_, {});
}

DISTRIBUTE_INLINE absl::Status write_frame(Socket& socket, uint16_t type, std::string_view payload,
                                           Deadline deadline) {
  const std::string bytes = encode_frame(type, payload);
  return socket.write(std::as_bytes(std::span(bytes)), deadline);
}

DISTRIBUTE_INLINE absl::StatusOr<Frame> read_frame(Socket& socket, uint64_t most,
                                                   Deadline deadline) {
  FrameReader reader(most);
  while (!reader.complete()) {
    const std::span<std::byte> space = reader.space();
    absl::Status status = socket.read(space, deadline);
    if (status.ok()) status = annotate(reader.filled(space.size()), socket.peer());
    if (!status.ok()) return status;
  }
  return reader.take();
}

}  // namespace distribute::net
