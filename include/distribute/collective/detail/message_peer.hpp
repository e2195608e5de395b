#pragma once
/// State of another rank that all kinds of messages need.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace distribute::collective {

/// Another rank, to which messages go and from which they come.
struct MessagePeer {
  std::string name;                 // "rank 1 (10.0.0.3:2222)"
  size_t to_send = 0, to_come = 0;  // unfinished messages
  bool heard = false;               // whether a message of the current operation has come
  bool late = false;                // whether it has said since its last message that it waits, too

  bool awaited() const { return to_send + to_come > 0; }
};

/// Throws  DeadlineExceededError that names the ranks for which it waits, of them those that do not
///          wait themselves, of them those from which no message has come.
[[noreturn]] void throw_too_late(const std::vector<const MessagePeer*>& peers,
                                 const Operation& operation, int my_rank);

}  // namespace distribute::collective
