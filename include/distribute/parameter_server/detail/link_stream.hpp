#pragma once
/// The bytes of one data connection at its server: incoming requests, outgoing answers.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace distribute::net {
class Socket;
}

namespace distribute::parameter_server {

/// Reads requests, each of which gets one answer. One thread uses it; any thread may call stop().
/// Throws  UnavailableError when the connection is closed.
class LinkStream {
 public:
  explicit LinkStream(net::Socket socket);
  ~LinkStream();

  /// Reads the next request and its head; returns false when the connection is closed.
  bool next(LinkRequest& request, std::string& head);
  /// Sets the number of bytes that follow the head.
  void expect(uint64_t bytes);
  void stop() const;

  /// Returns the bytes of the request that have not been read.
  uint64_t unread() const { return unread_; }
  bool answered() const { return answered_; }

  void receive(std::span<std::byte> out);
  void discard_rest();
  /// Sends an answer; `answer` is the encoded struct for the request, if it has one.
  void answer(std::string_view answer = {}, std::span<const std::byte> bytes = {});
  void answer_error(StatusCode code, const std::string& message);
  /// Sends the head of an answer whose `bytes` bytes follow by send().
  void send_head(std::string_view answer, uint64_t bytes);
  void send(std::span<const std::byte> bytes);
  /// Sends float32 as bfloat16.
  void send_halved(const std::byte* values, int64_t count);

 private:
  const std::unique_ptr<net::Socket> socket_;
  uint64_t unread_ = 0;
  bool answered_ = false;
};

}  // namespace distribute::parameter_server
