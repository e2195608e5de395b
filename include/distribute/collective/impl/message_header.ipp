#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/message_header.hpp>

namespace distribute::collective {

[[noreturn]] DISTRIBUTE_INLINE void refuse_header(const std::string& peer, std::string_view why) {
  throw DataLossError(str_cat(peer, " sent bytes that are no message of a collective: ", why,
                              "; is it a rank of this job, with the same version?"));
}

DISTRIBUTE_INLINE MessageHeader read_header(std::string_view bytes, const std::string& peer) {
  const auto header = net::parse_message<MessageHeader>(bytes, "header of a collective");
  if (!header.ok()) refuse_header(peer, std::string(header.status().message()));
  check_header(*header, peer);
  return *header;
}

DISTRIBUTE_INLINE void check_header(const MessageHeader& header, const std::string& peer) {
  const bool failure = header.kind == MessageHeader::Kind::Failure;
  if (header.magic != MessageHeader::kMagic)
    refuse_header(peer, str_cat("they begin with ", header.magic));
  if (failure && header.bytes > MessageHeader::kMaxFailureBytes)
    refuse_header(peer, str_cat(header.bytes, " bytes are announced"));
  if (header.kind == MessageHeader::Kind::Late && header.bytes > 0)
    refuse_header(peer, str_cat(header.bytes, " bytes are announced"));
  if (failure && header.code == StatusCode::Ok) refuse_header(peer, "a failure without a code");
  if (header.signature.count < 0 || header.signature.peer < 0)
    refuse_header(peer, "the operation does not exist");
}

DISTRIBUTE_INLINE void check_length(const MessageHeader& header, size_t wanted,
                                    const std::string& peer) {
  if (header.bytes != wanted)
    throw DataLossError(str_cat(peer, " sent ", header.bytes, " bytes of ",
                                to_string(header.signature), " where ", wanted, " belong"));
}

DISTRIBUTE_INLINE void check_point_to_point(const Signature& mine, const Signature& theirs,
                                            int from) {
  if (theirs == mine) return;
  throw FailedPreconditionError(
      str_cat("rank ", from, " sends ", distribute::name_of(theirs.dtype), " x ", theirs.count,
              " to rank ", theirs.peer, ", but rank ", mine.peer, " receives ",
              distribute::name_of(mine.dtype), " x ", mine.count, " from it"));
}

}  // namespace distribute::collective
