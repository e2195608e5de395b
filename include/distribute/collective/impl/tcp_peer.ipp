#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/tcp_peer.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE bool TcpPeer::gone() const {
  return std::all_of(flows.begin(), flows.end(), [](const TcpFlow& flow) { return flow.closed; });
}

DISTRIBUTE_INLINE void TcpPeer::throw_gone(const Operation& operation, int my_rank) const {
  const std::string what = str_cat(to_string(signature_of(operation)), ": rank ", my_rank);
  for (const TcpFlow& flow : flows)
    if (flow.failure().code() == absl::StatusCode::kDataLoss)
      throw DataLossError(str_cat(what, ", ", name, ": ", std::string(flow.failure().message())));
  throw UnavailableError(
      str_cat(what, " has lost the connection to ", name, ", which has ended or was cut off"));
}

DISTRIBUTE_INLINE void throw_too_late(std::span<const TcpPeer> peers, const Operation& operation,
                                      int my_rank) {
  std::string silent, late;
  for (const TcpPeer& other : peers) {
    if (!other.awaited()) continue;
    late += (late.empty() ? "" : ", ") + other.name;
    if (!other.heard) silent += (silent.empty() ? "" : ", ") + other.name;
  }
  throw DeadlineExceededError(
      str_cat(to_string(signature_of(operation)), ": the time is over; rank ", my_rank,
              silent.empty() ? " waits for the rest from " : " has heard nothing from ",
              silent.empty() ? late : silent));
}

}  // namespace distribute::collective
