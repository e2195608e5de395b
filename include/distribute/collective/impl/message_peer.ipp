#pragma once
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/message_peer.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE void throw_too_late(const std::vector<const MessagePeer*>& peers,
                                      const Operation& operation, int my_rank) {
  std::string silent, here, all;
  const auto add = [](std::string& list, const MessagePeer& peer) {
    list += (list.empty() ? "" : ", ") + peer.name;
  };
  for (const MessagePeer* other : peers) {
    if (!other->awaited()) continue;
    add(all, *other);
    if (!other->late) add(other->heard ? here : silent, *other);
  }
  const std::string& late = here.empty() ? all : here;
  throw DeadlineExceededError(
      str_cat(to_string(signature_of(operation)), ": the time is over; rank ", my_rank,
              silent.empty() ? " waits for the rest from " : " has heard nothing from ",
              silent.empty() ? late : silent));
}

}  // namespace distribute::collective
