#pragma once
#include <distribute/collective/detail/running_operation.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE void RunningOperation::begin(const Operation& next, int rank) {
  operation = next;
  is_collective = next.kind != Collective::Send && next.kind != Collective::Receive;
  lingers = false;
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

DISTRIBUTE_INLINE void RunningOperation::late(const std::vector<const MessagePeer*>& peers,
                                              int rank, int step) {
  constexpr double kMoment = 1, kStep = 0.2;
  constexpr int kMostSteps = 32;
  const bool one_is_silent = std::any_of(peers.begin(), peers.end(), [](const MessagePeer* other) {
    return other->awaited() && !other->heard;
  });
  const double patience = (one_is_silent ? 0 : kMoment) + kStep * std::min(step, kMostSteps);
  if (lingers || patience == 0 || !is_collective) throw_too_late(peers, operation, rank);
  lingers = true;
  operation.deadline = net::Deadline::after_seconds(patience);
}

}  // namespace distribute::collective
