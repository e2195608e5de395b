#pragma once
#include <distribute/base/status.hpp>
#include <distribute/net/frame.hpp>
#include <distribute/parameter_server/detail/link_stream.hpp>
#include <distribute/parameter_server/detail/server_metrics.hpp>

#include <algorithm>
#include <vector>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE LinkStream::LinkStream(net::Socket socket)
    : socket_(std::make_unique<net::Socket>(std::move(socket))) {}

DISTRIBUTE_INLINE LinkStream::~LinkStream() = default;

DISTRIBUTE_INLINE void LinkStream::stop() const { socket_->shutdown(); }

DISTRIBUTE_INLINE bool LinkStream::next(LinkRequest& request, std::string& head) {
  // The monitor ends the connection of a lost client, so reads have no other deadline.
  auto frame = net::read_frame(*socket_, kMostHeadBytes, net::Deadline::never());
  if (!frame.ok()) return false;
  server_metrics().tcp.received.increment_by(
      int64_t(net::kFrameHeaderBytes + frame->payload.size()));
  request = LinkRequest(frame->type);
  head = std::move(frame->payload);
  answered_ = false;
  return true;
}

DISTRIBUTE_INLINE void LinkStream::expect(uint64_t bytes) { unread_ = bytes; }

DISTRIBUTE_INLINE void LinkStream::receive(std::span<std::byte> out) {
  server_metrics().tcp.received.increment_by(int64_t(out.size()));
  if (out.size() > unread_) throw InvalidArgumentError("a message is shorter than it says");
  unread_ -= out.size();
  for (; !out.empty(); out = out.subspan(std::min(out.size(), kCallBytes)))
    throw_if_error(
        socket_->read(out.first(std::min(out.size(), kCallBytes)), net::Deadline::never()));
}

DISTRIBUTE_INLINE void LinkStream::discard_rest() {
  std::vector<std::byte> piece(size_t(std::min<uint64_t>(unread_, 1 << 20)));
  while (unread_ > 0)
    receive(std::span(piece).first(size_t(std::min<uint64_t>(unread_, piece.size()))));
}

DISTRIBUTE_INLINE void LinkStream::send(std::span<const std::byte> bytes) {
  server_metrics().tcp.sent.increment_by(int64_t(bytes.size()));
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), kCallBytes)))
    throw_if_error(
        socket_->write(bytes.first(std::min(bytes.size(), kCallBytes)), net::Deadline::never()));
}

DISTRIBUTE_INLINE void LinkStream::send_head(std::string_view answer, uint64_t bytes) {
  answered_ = true;
  const LinkAnswerHead head{.bytes = bytes, .answer = answer};
  const std::string frame = net::encode_frame_of(kLinkAnswer, head);
  send(std::as_bytes(std::span(frame)));
}

DISTRIBUTE_INLINE void LinkStream::answer(std::string_view answer,
                                          std::span<const std::byte> bytes) {
  send_head(answer, bytes.size());
  send(bytes);
}

DISTRIBUTE_INLINE void LinkStream::answer_error(StatusCode code, const std::string& message) {
  const LinkAnswerHead head{.code = code, .error = message};
  const std::string frame = net::encode_frame_of(kLinkAnswer, head);
  send(std::as_bytes(std::span(frame)));
}

DISTRIBUTE_INLINE void LinkStream::send_halved(const std::byte* values, int64_t count) {
  constexpr int64_t kPart = 65536;
  std::vector<uint16_t> part(size_t(std::min(kPart, count)));
  for (int64_t done = 0; done < count; done += kPart) {
    const int64_t size = std::min(kPart, count - done);
    narrow(reinterpret_cast<const float*>(values) + done, part.data(), size);
    send(std::as_bytes(std::span(part).first(size_t(size))));
  }
}

}  // namespace distribute::parameter_server
