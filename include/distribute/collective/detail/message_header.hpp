#pragma once
/// What stands before the bytes of a message between two ranks.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace distribute::collective {

/// Travels as it lies in memory; ranks of another byte order fail the check of the magic.
struct MessageHeader {
  static constexpr uint32_t kMagic = 0x31435444;            // "DTC1"
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // longer messages are cut by the sender
  static constexpr uint64_t kMaxFailureBytes = 1024;
  enum class Kind : uint16_t { Collective, PointToPoint, Failure };

  uint32_t magic = kMagic;
  Kind kind = Kind::Collective;
  uint16_t code = 0;  // StatusCode of a Failure
  Signature signature;
  uint64_t tag = 0;
  uint64_t bytes = 0;  // that follow
};
static_assert(sizeof(MessageHeader) == 56 && std::is_trivially_copyable_v<MessageHeader>);

/// Throws  DataLossError that names `peer` when no rank of this version can have sent it.
void check_header(const MessageHeader& header, const std::string& peer);
/// Throws  DataLossError when not `wanted` bytes follow.
void check_length(const MessageHeader& header, size_t wanted, const std::string& peer);
/// Of a message from rank `from`, as its sender sees it.
/// Throws  FailedPreconditionError that shows both when `theirs` is not what is received.
void check_point_to_point(const Signature& mine, const Signature& theirs, int from);

}  // namespace distribute::collective
