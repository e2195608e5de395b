#pragma once
/// What every kind of messages knows of another rank.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace distribute::collective {

/// Says which other rank a message goes to or comes from. A plain value.
struct MessagePeer {
  std::string name;                 // "rank 1 (10.0.0.3:2222)"
  size_t to_send = 0, to_come = 0;  // messages that are not done
  bool heard = false;               // of the present operation

  bool awaited() const { return to_send + to_come > 0; }
};

/// Throws  DeadlineExceededError that names those who were not heard, else those who are awaited.
[[noreturn]] void throw_too_late(const std::vector<const MessagePeer*>& peers,
                                 const Operation& operation, int my_rank);

}  // namespace distribute::collective
