#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/net/frame.hpp>
#include <distribute/parameter_server/detail/server_link.hpp>
#include <distribute/parameter_server/detail/server_metrics.hpp>

#include <algorithm>

#include <poll.h>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE ServerLink::ServerLink(std::shared_ptr<rpc::Peer> peer, net::Socket socket)
    : peer_(std::move(peer)),
      socket_(std::make_unique<net::Socket>(std::move(socket))),
      reader_(std::make_unique<net::FrameReader>(kMostHeadBytes)) {
  on_lost_ = peer_->on_lost([this] { socket_->shutdown(); });
}

DISTRIBUTE_INLINE ServerLink::~ServerLink() {
  peer_->remove_on_lost(on_lost_);
  server_metrics().unanswered_requests.add(-int64_t(expected_.size()));
}

DISTRIBUTE_INLINE std::shared_ptr<LinkAnswer> ServerLink::send(Request request) {
  peer_->throw_if_lost();
  uint64_t size = 0;
  for (const auto& part : request.bytes) size += part.size();
  const LinkHead head{.bytes = size, .released = released_->take(), .request = request.request};
  outgoing_.push_back(
      {net::encode_frame_of(uint16_t(request.type), head), std::move(request.bytes), request.keep});
  auto answer = std::make_shared<LinkAnswer>();
  answer->place = std::move(request.place);
  answer->finish = std::move(request.finish);
  answer->keep = std::move(request.keep);
  expected_.push_back(answer);
  server_metrics().unanswered_requests.add(1);
  return answer;
}

DISTRIBUTE_INLINE void ServerLink::drive(std::span<ServerLink* const> links,
                                         const std::function<bool()>& done,
                                         net::Deadline deadline) {
  std::vector<pollfd> polled;
  while (!done()) {
    bool moved = false;
    for (ServerLink* link : links) moved |= link->move();
    if (moved) continue;
    polled.clear();
    for (const ServerLink* link : links) {
      const short events =
          short((link->expected_.empty() ? 0 : POLLIN) | (link->outgoing_.empty() ? 0 : POLLOUT));
      polled.push_back({events ? link->socket_->native() : -1, events, 0});
    }
    const monitoring::Waiting waiting(server_metrics().wait);
    if (::poll(polled.data(), polled.size(), deadline.left_ms()) == 0 && deadline.passed()) {
      std::string missing;
      for (const ServerLink* link : links)
        if (!link->expected_.empty()) missing += " " + link->peer_->text();
      throw DeadlineExceededError("no answer has come in time from" + missing);
    }
  }
}

DISTRIBUTE_INLINE void ServerLink::advance() {
  while (move()) {
  }
}

DISTRIBUTE_INLINE bool ServerLink::move() {
  const bool wrote = !outgoing_.empty() && write_some();
  const bool read = !expected_.empty() && read_some();
  return wrote || read;
}

DISTRIBUTE_INLINE bool ServerLink::write_some() {
  Outgoing& first = outgoing_.front();
  const std::span<const std::byte> part =
      part_ == 0 ? std::as_bytes(std::span(first.head)) : first.bytes[part_ - 1];
  const auto rest = part.subspan(sent_);
  const auto sent = socket_->write_some(rest.first(std::min(rest.size(), kCallBytes)));
  if (!sent.ok()) fail();
  sent_ += *sent;
  bytes_moved_ += int64_t(*sent);
  server_metrics().tcp.sent.increment_by(int64_t(*sent));
  const bool moved = *sent > 0 || part.empty();
  if (sent_ < part.size()) return moved;
  sent_ = 0;
  if (++part_ <= first.bytes.size()) return true;
  part_ = 0;
  outgoing_.pop_front();
  return true;
}

DISTRIBUTE_INLINE bool ServerLink::read_some() {
  const std::span<std::byte> space =
      has_head_ ? places_[place_].subspan(placed_) : reader_->space();
  const auto got = socket_->read_some(space.first(std::min(space.size(), kCallBytes)));
  if (!got.ok()) fail();
  if (*got == 0 && !space.empty()) return false;
  bytes_moved_ += int64_t(*got);
  server_metrics().tcp.received.increment_by(int64_t(*got));
  if (!has_head_) {
    if (!reader_->filled(*got).ok()) fail();
    if (reader_->complete()) take_head();
    return true;
  }
  placed_ += *got;
  if (placed_ == places_[place_].size()) {
    placed_ = 0;
    ++place_;
    if (place_ == places_.size()) finish_answer();
  }
  return true;
}

DISTRIBUTE_INLINE void ServerLink::take_head() {
  LinkAnswer& answer = *expected_.front();
  const net::Frame frame = reader_->take();
  const auto head = net::parse_message<LinkAnswerHead>(frame.payload, "head of an answer");
  if (frame.type != kLinkAnswer || !head.ok()) fail();
  answer.code = head->code;
  answer.error = head->error;
  answer.answer = head->answer;
  places_.clear();
  if (answer.code == StatusCode::Ok && answer.place) places_ = answer.place(answer.answer);
  std::erase_if(places_, [](const auto& place) { return place.empty(); });
  uint64_t room = 0;
  for (const auto& place : places_) room += place.size();
  if (room != head->bytes) fail();
  has_head_ = true;
  place_ = placed_ = 0;
  if (places_.empty()) finish_answer();
}

DISTRIBUTE_INLINE void ServerLink::finish_answer() {
  const auto answer = std::move(expected_.front());
  expected_.pop_front();
  server_metrics().unanswered_requests.add(-1);
  has_head_ = false;
  if (answer->code == StatusCode::Ok && answer->finish) answer->finish();
  answer->place = nullptr;
  answer->finish = nullptr;
  answer->keep.clear();
  answer->done = true;
}

DISTRIBUTE_INLINE void ServerLink::fail() {
  peer_->lose("it has ended, or cut the connection");
  peer_->throw_if_lost();
  throw UnavailableError(peer_->text());  // not reached
}

}  // namespace distribute::parameter_server
