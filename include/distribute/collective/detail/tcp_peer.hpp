#pragma once
/// Another rank in the TCP loop: its connections, and the unfinished messages.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_header.hpp>
#include <distribute/collective/detail/message_peer.hpp>
#include <distribute/collective/detail/tcp_flow.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace distribute::collective {

/// Queues that all flows to a rank share, so that a slow one does not slow down the rest. One
/// thread.
struct TcpPeer : MessagePeer {
  struct Outgoing {
    uint64_t tag;
    std::span<const std::byte> bytes;
  };
  struct Incoming {
    uint64_t tag;
    std::span<std::byte> out;
  };
  /// A point-to-point message that came before its receive().
  struct Early {
    MessageHeader header;
    std::unique_ptr<std::byte[]> bytes;
    bool whole = false;
    std::byte* out = nullptr;  // set when receive() came before the last byte
  };

  std::deque<TcpFlow> flows;  // which stay at their place
  int dialled = 0;            // those that this rank has made
  std::deque<Outgoing> urgent, queue;
  std::vector<Incoming> wanted;
  std::deque<Early> early;
  size_t early_bytes = 0;
  uint64_t parts_sent = 0, parts_come = 0;  // point-to-point, since the start

  /// Whether there were connections, and every one has ended.
  bool gone() const;
  /// Throws  DataLossError if its bytes were damaged, else UnavailableError.
  [[noreturn]] void throw_gone(const Operation& operation, int my_rank) const;
};

}  // namespace distribute::collective
