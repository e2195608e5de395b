#pragma once
#include <distribute/collective/detail/collective_metrics.hpp>
#include <distribute/collective/detail/tcp_flow.hpp>

#include <algorithm>
#include <cstring>

namespace distribute::collective {

DISTRIBUTE_INLINE TcpFlow::TcpFlow(net::Socket socket)
    : socket_(std::move(socket)), ahead_(new std::byte[kReadAhead]) {}

DISTRIBUTE_INLINE TcpFlow::Moved TcpFlow::broken(const absl::Status& failure) {
  failure_ = failure;
  return Moved::Broken;
}

DISTRIBUTE_INLINE void TcpFlow::start(const MessageHeader& header,
                                      std::span<const std::byte> bytes) {
  out_ = header;
  out_head_.clear();  // which keeps its memory
  net::append_fields(out_head_, net::FieldsRef(out_));
  out_data_ = bytes.data();
  out_done_ = 0;
  sending_ = true;
}

DISTRIBUTE_INLINE TcpFlow::Moved TcpFlow::write() {
  const auto head = std::as_bytes(std::span(out_head_));
  const size_t head_done = std::min(out_done_, head.size());
  const std::span<const std::byte> bytes(out_data_, out_.bytes);
  const auto sent =
      socket_.write_some(head.subspan(head_done), bytes.subspan(out_done_ - head_done));
  if (!sent.ok()) return broken(sent.status());
  collective_metrics().tcp.sent.increment_by(int64_t(*sent));
  out_done_ += *sent;
  sending_ = out_done_ < head.size() + bytes.size();
  blocked = sending_;
  if (!sending_) socket_.push();
  return *sent > 0 ? Moved::Something : Moved::Nothing;
}

DISTRIBUTE_INLINE const MessageHeader* TcpFlow::header(const std::string& peer) {
  if (receiving_) return nullptr;
  if (!have_header_) {
    if (end_ - begin_ < kMessageHeaderBytes) return nullptr;
    const char* const bytes = reinterpret_cast<const char*>(ahead_.get() + begin_);
    in_ = read_header({bytes, kMessageHeaderBytes}, peer);
    begin_ += kMessageHeaderBytes;
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

/// Copies bytes that were read ahead to the message's memory.
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
  const std::span<std::byte> ahead(ahead_.get() + end_, kReadAhead - end_);
  const auto got = wanted > 0 ? socket_.read_some({in_data_ + in_done_, wanted}, ahead)
                              : socket_.read_some(ahead);
  if (!got.ok()) return socket_.saw_end() ? Moved::End : broken(got.status());
  if (*got == 0) return Moved::Nothing;
  collective_metrics().tcp.received.increment_by(int64_t(*got));
  in_done_ += std::min(*got, wanted);
  end_ += *got - std::min(*got, wanted);
  return Moved::Something;
}

DISTRIBUTE_INLINE void TcpFlow::say_goodbye(const MessageHeader& header,
                                            std::span<const std::byte> bytes) {
  if (closed) return;
  if (!sending_) {
    start(header, bytes);
    write();
  }
  socket_.end_writing();
}

}  // namespace distribute::collective
