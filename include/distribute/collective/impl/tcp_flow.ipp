#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/collective/tcp_flow.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace distribute::collective {

DISTRIBUTE_INLINE TcpFlow::TcpFlow(net::Socket socket)
    : socket_(std::move(socket)), ahead_(new std::byte[kReadAhead]) {
  const int on = 1;  // fails on sockets that are not TCP, which do not need it
  ::setsockopt(native(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

DISTRIBUTE_INLINE void TcpFlow::start(const MessageHeader& header,
                                      std::span<const std::byte> bytes) {
  out_ = header;
  out_data_ = bytes.data();
  out_done_ = 0;
  sending_ = true;
}

DISTRIBUTE_INLINE TcpFlow::Moved TcpFlow::write() {
  const size_t all = sizeof out_ + out_.bytes;
  iovec parts[2];
  size_t count = 0;
  if (out_done_ < sizeof out_)
    parts[count++] = {reinterpret_cast<std::byte*>(&out_) + out_done_, sizeof out_ - out_done_};
  const size_t done = out_done_ - std::min(out_done_, sizeof out_);
  if (done < out_.bytes)
    parts[count++] = {const_cast<std::byte*>(out_data_) + done, out_.bytes - done};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  const ssize_t sent = ::sendmsg(native(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    blocked = errno == EAGAIN;
    return errno == EAGAIN || errno == EINTR ? Moved::Nothing : Moved::Broken;
  }
  monitoring::metrics().collective_tcp.sent.increment_by(sent);
  out_done_ += size_t(sent);
  sending_ = out_done_ < all;
  blocked = sending_;
  return Moved::Something;
}

DISTRIBUTE_INLINE const MessageHeader* TcpFlow::header() {
  if (receiving_) return nullptr;
  if (!have_header_) {
    if (end_ - begin_ < sizeof in_) return nullptr;
    std::memcpy(&in_, ahead_.get() + begin_, sizeof in_);
    begin_ += sizeof in_;
    have_header_ = true;
  }
  return &in_;
}

DISTRIBUTE_INLINE void TcpFlow::accept(std::byte* out) {
  in_data_ = out;
  in_done_ = 0;
  receiving_ = true;
  have_header_ = false;
  drain();
}

/// Copies what was read ahead to where it belongs.
DISTRIBUTE_INLINE void TcpFlow::drain() {
  const size_t part = std::min(end_ - begin_, size_t(in_.bytes) - in_done_);
  if (part > 0) std::memcpy(in_data_ + in_done_, ahead_.get() + begin_, part);
  in_done_ += part;
  begin_ += part;
}

DISTRIBUTE_INLINE bool TcpFlow::take_message() {
  if (!receiving_ || in_done_ < in_.bytes) return false;
  receiving_ = false;
  return true;
}

DISTRIBUTE_INLINE TcpFlow::Moved TcpFlow::read() {
  const size_t wanted = receiving_ ? size_t(in_.bytes) - in_done_ : 0;
  if (begin_ > 0) {
    std::memmove(ahead_.get(), ahead_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  iovec parts[2] = {{in_data_ + in_done_, wanted}, {ahead_.get() + end_, kReadAhead - end_}};
  msghdr message{};
  message.msg_iov = wanted > 0 ? parts : parts + 1;
  message.msg_iovlen = wanted > 0 ? 2 : 1;
  const ssize_t got = ::recvmsg(native(), &message, MSG_DONTWAIT);
  if (got == 0) return Moved::End;
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Moved::Nothing : Moved::Broken;
  monitoring::metrics().collective_tcp.received.increment_by(got);
  in_done_ += std::min(size_t(got), wanted);
  end_ += size_t(got) - std::min(size_t(got), wanted);
  return Moved::Something;
}

DISTRIBUTE_INLINE void TcpFlow::say_goodbye(const MessageHeader& header,
                                            std::span<const std::byte> bytes) {
  if (closed) return;
  if (!sending_) {
    start(header, bytes);
    write();
  }
  ::shutdown(native(), SHUT_WR);
}

}  // namespace distribute::collective
