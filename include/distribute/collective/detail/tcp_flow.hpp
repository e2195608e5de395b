#pragma once
/// One connection to another rank, and the messages that are half through it.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/message_header.hpp>
#include <distribute/net/socket.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace distribute::collective {

/// Moves bytes without waiting. Thread-compatible.
class TcpFlow {
 public:
  enum class Moved { Something, Nothing, End, Broken };

  /// Takes a connected socket, encrypted or not.
  explicit TcpFlow(net::Socket socket);

  int native() const { return socket_.native(); }

  // Outgoing: one message at a time.
  bool sending() const { return sending_; }
  uint64_t sending_tag() const { return out_.tag; }
  /// `bytes` must stay until sending() is false again.
  void start(const MessageHeader& header, std::span<const std::byte> bytes);
  /// What the system takes now.
  Moved write();

  // Incoming: bytes are read ahead, so that small messages cost one call of the system.
  /// The next message's header, null while it has not come whole or a message is being received.
  /// Throws  DataLossError that names `peer`, as read_header().
  const MessageHeader* header(const std::string& peer);
  /// Where the bytes of the message with the present header go.
  void accept(std::byte* out);
  /// True once for each message: when it has come whole.
  bool take_message();
  bool receiving() const { return receiving_; }
  const MessageHeader& received() const { return in_; }
  /// What is there now.
  Moved read();
  bool has_bytes() const { return begin_ < end_ || receiving_; }
  /// Whether read() has something of which ::poll says nothing.
  bool has_buffered() const { return socket_.has_buffered(); }
  /// Why the last Moved was Broken.
  const absl::Status& failure() const { return failure_; }

  /// The last word: sends what goes at once, then ends the outgoing direction.
  void say_goodbye(const MessageHeader& header, std::span<const std::byte> bytes);

  bool parked = false;   // the next message waits until it is wanted
  bool blocked = false;  // the system takes no more bytes now
  bool closed = false;   // the other end has ended it

 private:
  static constexpr size_t kReadAhead = 16 << 10;
  void drain();
  Moved broken(const absl::Status& failure);

  net::Socket socket_;
  bool sending_ = false, receiving_ = false, have_header_ = false;
  MessageHeader out_, in_;
  std::string out_head_;  // out_ as bytes
  const std::byte* out_data_ = nullptr;
  size_t out_done_ = 0;  // of the header and the bytes
  std::byte* in_data_ = nullptr;
  size_t in_done_ = 0;
  std::unique_ptr<std::byte[]> ahead_;
  size_t begin_ = 0, end_ = 0;  // of what was read ahead
  absl::Status failure_;
};

}  // namespace distribute::collective
