#pragma once
#include <distribute/collective/detail/running_operation.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE void RunningOperation::begin(const Operation& next, int rank) {
  operation = next;
  is_collective = next.kind != Collective::Send && next.kind != Collective::Receive;
  moments = 0;
  Signature& signature = is_collective ? collective : point_to_point;
  signature = signature_of(next);
  if (next.kind == Collective::Receive) signature.peer = rank;
  if (!is_collective) signature.kind = Collective::Send;
}

DISTRIBUTE_INLINE MessageHeader RunningOperation::header(uint64_t tag, size_t bytes) const {
  using Kind = MessageHeader::Kind;
  return {.kind = is_collective ? Kind::Collective : Kind::PointToPoint,
          .signature = is_collective ? collective : point_to_point,
          .tag = tag,
          .bytes = bytes};
}

DISTRIBUTE_INLINE bool RunningOperation::late(const std::vector<const MessagePeer*>& peers,
                                              int rank) {
  constexpr double kMoment = 1;
  const bool one_is_missing = std::any_of(peers.begin(), peers.end(), [](const MessagePeer* other) {
    return other->awaited() && !other->late;
  });
  if (!is_collective || moments == 2 || (moments == 1 && one_is_missing))
    throw_too_late(peers, operation, rank);
  ++moments;
  operation.deadline = net::Deadline::after_seconds(moments * kMoment);
  return moments == 1;
}

DISTRIBUTE_INLINE void RunningOperation::hurry() {
  if (is_collective && moments == 0) operation.deadline = net::Deadline::after_seconds(0);
}

}  // namespace distribute::collective
