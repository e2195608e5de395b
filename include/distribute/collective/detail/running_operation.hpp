#pragma once
/// The operation that a rank's messages belong to.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_header.hpp>
#include <distribute/collective/detail/message_peer.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distribute::collective {

/// A plain value.
struct RunningOperation {
  Operation operation;
  bool is_collective = false;
  Signature collective, point_to_point;  // of the newest of each kind, as the sender has them
  bool lingers = false;                  // past its deadline

  void begin(const Operation& next, int rank);
  /// The header of one of its messages.
  MessageHeader header(uint64_t tag, size_t bytes) const;
  /// Its deadline has passed. A rank that has heard from all it waits for lets others name the
  /// missing rank for a moment.
  /// Throws  as throw_too_late(), but for that moment.
  void late(const std::vector<const MessagePeer*>& peers, int rank);
};

}  // namespace distribute::collective
