#pragma once
/// Header of a message between two ranks.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace distribute::collective {

/// The contents follow the header and are not copied for it.
struct MessageHeader {
  static constexpr uint32_t kMagic = 0x43545344;            // "DSTC" on the wire
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // longer messages are cut by the sender
  static constexpr uint64_t kMaxFailureBytes = 1024;
  /// Late: the sender is past a deadline, and waits.
  enum class Kind : uint8_t { Collective, PointToPoint, Failure, Late };

  uint32_t magic = kMagic;
  Kind kind = Kind::Collective;
  StatusCode code = StatusCode::Ok;  // of a Failure
  Signature signature;
  uint64_t tag = 0;
  uint64_t bytes = 0;  // number of bytes that follow

  void fields(net::FieldVisitor& visit) {
    visit("magic", magic)("kind", kind, Kind::Late)("code", code, StatusCode::Unauthenticated);
    visit("signature", signature)("tag", tag)("bytes", bytes, kMaxBytes);
  }
};
inline constexpr size_t kMessageHeaderBytes = 56;

/// Parses a header; `bytes` are kMessageHeaderBytes.
/// Throws  DataLossError that names `peer` when no rank of this version can have sent them.
MessageHeader read_header(std::string_view bytes, const std::string& peer);
/// Checks a header that was received as a struct.
void check_header(const MessageHeader& header, const std::string& peer);
/// Throws  DataLossError unless `wanted` bytes follow.
void check_length(const MessageHeader& header, size_t wanted, const std::string& peer);
/// Compares the signatures of a message from rank `from`: the receiver's, and its sender's.
/// Throws  FailedPreconditionError that shows both when `theirs` does not fit the receive.
void check_point_to_point(const Signature& mine, const Signature& theirs, int from);

}  // namespace distribute::collective
