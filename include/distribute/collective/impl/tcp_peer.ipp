#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/tcp_peer.hpp>

#include <algorithm>

namespace distribute::collective {

DISTRIBUTE_INLINE bool TcpPeer::gone() const {
  return !flows.empty() &&
         std::all_of(flows.begin(), flows.end(), [](const TcpFlow& flow) { return flow.closed; });
}

DISTRIBUTE_INLINE void TcpPeer::throw_gone(const Operation& operation, int my_rank) const {
  const std::string what = str_cat(to_string(signature_of(operation)), ": rank ", my_rank);
  for (const TcpFlow& flow : flows)
    if (flow.failure().code() == absl::StatusCode::kDataLoss)
      throw DataLossError(str_cat(what, ", ", name, ": ", std::string(flow.failure().message())));
  throw UnavailableError(
      str_cat(what, " has lost the connection to ", name, ", which has ended or was cut off"));
}

}  // namespace distribute::collective
