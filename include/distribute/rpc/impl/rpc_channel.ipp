#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/frame.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/rpc/detail/rpc_channel.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <poll.h>

namespace distribute::rpc {

struct RpcChannel::Impl {
  Impl(Peer& the_peer, net::Socket the_socket, int64_t max_message_bytes)
      : peer(the_peer),
        socket(std::move(the_socket)),
        most(max_message_bytes),
        reader(uint64_t(max_message_bytes + kRpcHeadBytes)) {}

  /// A caller's turn, if it has come before the deadline.
  struct Turn {
    Turn(Impl& of, net::Deadline deadline) : impl(of) {
      std::unique_lock lock(impl.mutex);
      mine = impl.changed.wait_until(lock, deadline.when(), [&] { return !impl.busy; });
      impl.busy = true;
    }
    ~Turn() {
      if (!mine) return;
      const std::lock_guard lock(impl.mutex);
      impl.busy = false;
      impl.changed.notify_one();
    }
    Impl& impl;
    bool mine = false;
  };

  absl::Status send(const std::string& bytes, net::Deadline deadline);
  absl::Status receive(net::Deadline deadline);
  [[noreturn]] void fail(const absl::Status& status, const std::string& method);

  Peer& peer;
  net::Socket socket;
  const int64_t most;
  int on_lost = 0;
  std::atomic<bool> closed{false}, broken{false};
  std::mutex mutex;  // guards busy
  std::condition_variable changed;
  bool busy = false;  // a call is under way, and has the two below for itself
  net::FrameReader reader;
  uint64_t last_id = 0;
};

DISTRIBUTE_INLINE RpcChannel::RpcChannel(std::shared_ptr<Peer> peer, net::Socket socket,
                                         int64_t max_message_bytes)
    : peer_(std::move(peer)),
      impl_(std::make_unique<Impl>(*peer_, std::move(socket), max_message_bytes)) {
  impl_->on_lost = peer_->on_lost([impl = impl_.get()] { impl->socket.shutdown(); });
}

DISTRIBUTE_INLINE RpcChannel::~RpcChannel() { peer_->remove_on_lost(impl_->on_lost); }

DISTRIBUTE_INLINE void RpcChannel::close() {
  impl_->closed = true;
  impl_->socket.shutdown();
}

DISTRIBUTE_INLINE bool RpcChannel::usable() const {
  return !impl_->closed && !impl_->broken && !peer_->lost();
}

DISTRIBUTE_INLINE std::string RpcChannel::call(const std::string& method, std::string_view body,
                                               net::Deadline deadline) {
  if (int64_t(body.size()) > impl_->most)
    throw ResourceExhaustedError(str_cat(method, " of ", peer_->text(), ": a message of ",
                                         body.size(), " bytes where at most ", impl_->most,
                                         " are allowed (DISTRIBUTE_MAX_MESSAGE_BYTES)"));
  const RpcChannel::Impl::Turn turn(*impl_, deadline);
  if (!turn.mine)
    impl_->fail(absl::DeadlineExceededError("another call has taken all the time"), method);
  if (!usable()) impl_->fail(absl::UnavailableError("the connection is broken"), method);
  const CallMessage call{++impl_->last_id, deadline.left().count(), method, body};
  if (const absl::Status sent =
          impl_->send(net::encode_frame_of(uint16_t(RpcFrame::Call), call), deadline);
      !sent.ok())
    impl_->fail(sent, method);
  for (;;) {
    if (const absl::Status got = impl_->receive(deadline); !got.ok()) impl_->fail(got, method);
    const net::Frame frame = impl_->reader.take();
    const auto answer =
        value_or_throw(net::parse_message<AnswerMessage>(frame.payload, "answer to a call"));
    if (answer.id != call.id) continue;  // of a call that has timed out
    if (answer.code != StatusCode::Ok)
      throw_error(answer.code, str_cat(peer_->name().name(), ": ", answer.error));
    return std::string(answer.body);
  }
}

/// A message that was cut in the middle ends the channel: the other side could not find the next.
DISTRIBUTE_INLINE absl::Status RpcChannel::Impl::send(const std::string& bytes,
                                                      net::Deadline deadline) {
  absl::Status status = socket.write(std::as_bytes(std::span(bytes)), deadline);
  if (!status.ok()) {
    broken = true;
    socket.shutdown();
  }
  return status;
}

DISTRIBUTE_INLINE absl::Status RpcChannel::Impl::receive(net::Deadline deadline) {
  while (!reader.complete()) {
    const auto got = socket.read_some(reader.space());
    absl::Status status = got.ok() ? reader.filled(*got) : got.status();
    if (!status.ok()) {
      broken = true;
      return status;
    }
    if (*got > 0) continue;
    pollfd entry{socket.native(), POLLIN, 0};
    if (::poll(&entry, 1, deadline.left_ms()) == 0 && deadline.passed())
      return absl::DeadlineExceededError("the answer has not come in time");
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE void RpcChannel::Impl::fail(const absl::Status& status,
                                              const std::string& method) {
  if (closed) throw CancelledError(str_cat(method, " of ", peer.text(), " was cancelled"));
  // Connections between living tasks do not break; the heartbeat's would do so any moment.
  if (status.code() == absl::StatusCode::kUnavailable)
    peer.lose("it has ended, or cut the connection");
  peer.throw_if_lost();
  throw_error(StatusCode(status.code()),
              str_cat(method, " of ", peer.text(), ": ", std::string(status.message())));
}

}  // namespace distribute::rpc
