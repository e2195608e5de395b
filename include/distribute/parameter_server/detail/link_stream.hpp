#pragma once
/// The bytes of one data connection at its server: requests come in, answers go out.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/bytes.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace distribute::net {
class Socket;
}

namespace distribute::parameter_server {

/// Every request gets one answer. One thread; stop() from any.
/// Throws  UnavailableError when the connection is over.
class LinkStream {
 public:
  explicit LinkStream(net::Socket socket);
  ~LinkStream();

  /// The next request and its head; false when the connection is over.
  bool next(LinkRequest& request, std::string& head);
  /// That many bytes follow the head.
  void expect(uint64_t bytes);
  void stop() const;

  /// Bytes of the request that are still to come.
  uint64_t unread() const { return unread_; }
  bool answered() const { return answered_; }

  void receive(std::span<std::byte> out);
  void discard_rest();
  void answer(const net::ByteWriter& head = {}, std::span<const std::byte> bytes = {});
  void answer_error(StatusCode code, const std::string& message);
  /// An answer whose `bytes` bytes follow by send().
  void send_head(const net::ByteWriter& head, uint64_t bytes);
  void send(std::span<const std::byte> bytes);
  /// float32 as bfloat16.
  void send_halved(const std::byte* values, int64_t count);

 private:
  const std::unique_ptr<net::Socket> socket_;
  uint64_t unread_ = 0;
  bool answered_ = false;
};

}  // namespace distribute::parameter_server
