#pragma once
/// The operation to which a rank's messages belong.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_header.hpp>
#include <distribute/collective/detail/message_peer.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distribute::collective {

/// A running operation with its signatures.
struct RunningOperation {
  Operation operation;
  bool is_collective = false;
  Signature collective, point_to_point;  // of the newest operation of each kind on this rank
  bool lingers = false;                  // whether it is past its deadline

  void begin(const Operation& next, int rank);
  /// Returns the header of one of its messages.
  MessageHeader header(uint64_t tag, size_t bytes) const;
  /// Reports that its deadline has passed. A rank at a later `step` of its algorithm, and one that
  /// has messages from all ranks it waits for, gives other ranks a moment to name the missing one.
  /// Throws  as throw_too_late(), after that moment.
  void late(const std::vector<const MessagePeer*>& peers, int rank, int step);
};

}  // namespace distribute::collective
