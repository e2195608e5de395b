#pragma once
/// Messages between the ranks of a group within one operation, with which algorithms are
/// implemented.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace distribute::collective {

/// One rank's messages of the running operation. A message is identified by its sender and its tag;
/// between two ranks an operation uses each tag once a direction. Used by one thread.
class Messages {
 public:
  /// A message that has come completely, or one that was sent, whose bytes may be changed again.
  struct Event {
    int peer = 0;
    uint64_t tag = 0;
    bool sent = false;
  };

  virtual ~Messages() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Queues a message; `bytes` must not change until it is sent. Urgent messages overtake others.
  virtual void send(int to, uint64_t tag, std::span<const std::byte> bytes,
                    bool urgent = false) = 0;
  /// Sets the memory for a message; until then it waits at its sender.
  virtual void receive(int from, uint64_t tag, std::span<std::byte> out) = 0;
  /// Returns the next event.
  /// Blocks  until a message has come or was sent.
  /// Throws  as Transport::execute().
  virtual Event next() = 0;
  /// Blocks  until all messages have come and were sent; drops the events.
  virtual void finish() = 0;
};

/// Returns the tag of part `number` of one of an operation's flows of messages.
constexpr uint64_t tag_of(uint32_t flow, int64_t number) {
  return uint64_t(flow) << 32 | uint64_t(number);
}
constexpr uint32_t flow_of(uint64_t tag) { return uint32_t(tag >> 32); }
constexpr int64_t number_of(uint64_t tag) { return int64_t(tag & 0xffff'ffff); }

}  // namespace distribute::collective
