#pragma once
/// The client's end of one data connection.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/parameter_server/detail/link_message.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace distribute::net {
class FrameReader;
class Socket;
}  // namespace distribute::net

namespace distribute::parameter_server {

/// An answer to a request, filled in while a thread drives the link.
struct LinkAnswer {
  using Bytes = std::vector<std::span<std::byte>>;
  // returns the memory for the bytes behind the head
  std::function<Bytes(std::string_view answer)> place = {};
  std::function<void()> finish = {};             // called when they have come
  std::vector<std::shared_ptr<void>> keep = {};  // kept alive until then
  bool done = false;
  StatusCode code = StatusCode::Ok;
  std::string error = {};
  std::string answer = {};  // encoded struct
};

/// Blocks of the server's shared memory that this process has finished reading; as tensors outlive
/// the link, it does too. Thread-safe.
class ReleaseList {
 public:
  void add(int64_t variable, int64_t offset) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back({variable, offset});
  }
  std::vector<ReleasedBlock> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(blocks_, {});
  }

 private:
  std::mutex mutex_;  // guards blocks_
  std::vector<ReleasedBlock> blocks_;
};

/// Sends requests and receives answers, which come in the same order, without its own thread.
/// Thread-compatible.
class ServerLink {
 public:
  ServerLink(std::shared_ptr<rpc::Peer> peer, net::Socket socket);
  ~ServerLink();
  ServerLink(const ServerLink&) = delete;

  struct Request {
    LinkRequest type{};
    std::string request = {};                            // encoded
    std::vector<std::span<const std::byte>> bytes = {};  // behind the head
    std::vector<std::shared_ptr<void>> keep = {};        // kept alive until it is answered
    decltype(LinkAnswer::place) place = {};
    decltype(LinkAnswer::finish) finish = {};
  };
  /// Queues the request; drive() sends it.
  std::shared_ptr<LinkAnswer> send(Request request);

  /// Moves data on all links until done() returns true.
  /// Throws  UnavailableError that names the lost server; DeadlineExceededError.
  static void drive(std::span<ServerLink* const> links, const std::function<bool()>& done,
                    net::Deadline deadline);
  /// Moves the data that can be moved without waiting.
  void advance();

  const rpc::Peer& peer() const { return *peer_; }
  const std::shared_ptr<ReleaseList>& released() const { return released_; }
  int64_t bytes_moved() const { return bytes_moved_; }

 private:
  struct Outgoing {
    std::string head;
    std::vector<std::span<const std::byte>> bytes;
    std::vector<std::shared_ptr<void>> keep;
  };
  bool move();
  bool write_some();
  bool read_some();
  void take_head();
  void finish_answer();
  [[noreturn]] void fail();

  std::shared_ptr<rpc::Peer> peer_;
  const std::unique_ptr<net::Socket> socket_;
  int on_lost_ = 0;
  std::shared_ptr<ReleaseList> released_ = std::make_shared<ReleaseList>();
  std::deque<Outgoing> outgoing_;
  // position in the first outgoing request: part 0 is the head; bytes of the part
  size_t part_ = 0, sent_ = 0;
  std::deque<std::shared_ptr<LinkAnswer>> expected_;
  const std::unique_ptr<net::FrameReader> reader_;
  bool has_head_ = false;
  LinkAnswer::Bytes places_;
  size_t place_ = 0, placed_ = 0;
  int64_t bytes_moved_ = 0;
};

}  // namespace distribute::parameter_server
