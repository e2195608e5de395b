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
  int moments = 0;                       // times that it was past its deadline

  void begin(const Operation& next, int rank);
  /// Returns the header of one of its messages.
  MessageHeader header(uint64_t tag, size_t bytes) const;
  /// Reports that its deadline has passed. At first that only gives others a moment to say that
  /// they wait, too: it returns true, and the caller says so to all. Then it throws, unless all for
  /// which it waits have said so: those have a moment to name the one that is missing.
  /// Throws  as throw_too_late().
  bool late(const std::vector<const MessagePeer*>& peers, int rank);
  /// Another rank is past its deadline: so is this one, as it cannot end either.
  void hurry();
};

}  // namespace distribute::collective
