#pragma once
/// One connection to another rank, and the messages that it is sending and receiving.

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

  // The outgoing side sends one message at a time.
  bool sending() const { return sending_; }
  uint64_t sending_tag() const { return out_.tag; }
  MessageHeader::Kind sending_kind() const { return out_.kind; }
  /// Starts a message; `bytes` must not change until sending() is false again.
  void start(const MessageHeader& header, std::span<const std::byte> bytes);
  /// Writes the bytes that the system takes without waiting.
  Moved write();

  // The incoming side reads ahead, so that small messages cost one system call.
  /// Returns the next message's header, null while it is incomplete or a message is being received.
  /// Throws  DataLossError that names `peer`, as read_header().
  const MessageHeader* header(const std::string& peer);
  /// Sets the memory for the bytes of the message with the current header.
  void accept(std::byte* out);
  /// Returns true once for each message: when it has come completely.
  bool take_message();
  bool receiving() const { return receiving_; }
  const MessageHeader& received() const { return in_; }
  /// Reads the bytes that are available.
  Moved read();
  bool has_bytes() const { return begin_ < end_ || receiving_; }
  /// Whether read() has bytes of which ::poll does not know.
  bool has_buffered() const { return socket_.has_buffered(); }
  /// Returns why the last Moved was Broken.
  const absl::Status& failure() const { return failure_; }

  /// Sends a last message as far as possible without waiting, then closes the outgoing direction.
  void say_goodbye(const MessageHeader& header, std::span<const std::byte> bytes);

  bool parked = false;   // the next message waits for its receive()
  bool blocked = false;  // the system takes no more bytes at the moment
  bool closed = false;   // the other end has closed the connection

 private:
  static constexpr size_t kReadAhead = 16 << 10;
  void drain();
  Moved broken(const absl::Status& failure);

  net::Socket socket_;
  bool sending_ = false, receiving_ = false, have_header_ = false;
  MessageHeader out_, in_;
  std::string out_head_;  // encoded out_
  const std::byte* out_data_ = nullptr;
  size_t out_done_ = 0;  // bytes sent, header included
  std::byte* in_data_ = nullptr;
  size_t in_done_ = 0;
  std::unique_ptr<std::byte[]> ahead_;
  size_t begin_ = 0, end_ = 0;  // range of the bytes that were read ahead
  absl::Status failure_;
};

}  // namespace distribute::collective
