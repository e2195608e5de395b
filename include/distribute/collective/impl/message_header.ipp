#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/message_header.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE bool is_sound(const Signature& signature) {
  return signature.kind <= Collective::Barrier && signature.op <= ReductionOp::Product &&
         signature.dtype <= DType::Bool && signature.count >= 0 && signature.peer >= 0;
}

DISTRIBUTE_INLINE void check_header(const MessageHeader& header, const std::string& peer) {
  const auto refuse = [&](const auto&... words) {
    throw DataLossError(str_cat(peer, " sent bytes that are no message of a collective: ", words...,
                                "; is it a rank of this job, with the same version?"));
  };
  if (header.magic != MessageHeader::kMagic) refuse("they begin with ", header.magic);
  if (header.kind > MessageHeader::Kind::Failure) refuse("kind ", int(header.kind));
  const bool failure = header.kind == MessageHeader::Kind::Failure;
  if (header.bytes > (failure ? MessageHeader::kMaxFailureBytes : MessageHeader::kMaxBytes))
    refuse(header.bytes, " bytes are announced");
  if (failure && (header.code < 1 || header.code > 16)) refuse("error code ", header.code);
  if (!failure && !is_sound(header.signature)) refuse("the operation does not exist");
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
