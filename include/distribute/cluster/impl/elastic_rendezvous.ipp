#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/elastic_rendezvous.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/net/frame.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>

namespace distribute::cluster_internal {

/// Whether the other end has closed the connection; workers that wait send nothing. On an encrypted
/// connection the end is announced by a record, which can only be recognized by reading.
DISTRIBUTE_INLINE bool has_closed(net::Socket& socket) {
  std::byte byte;
  return !socket.read_some(std::span(&byte, 1)).ok();
}

/// Sends a text, which is short and fits into the socket's buffer, as the other end waits for it.
DISTRIBUTE_INLINE void tell(net::Socket& socket, MeetFrame frame, std::string_view text) {
  (void)net::write_frame(socket, uint16_t(frame), text, net::Deadline::after_seconds(0.5));
}

DISTRIBUTE_INLINE ElasticRendezvous::ElasticRendezvous(ClusterTasks tasks, std::string options)
    : tasks_(std::move(tasks)), options_(std::move(options)), checksum_(fnv1a(options_)) {}

DISTRIBUTE_INLINE bool ElasticRendezvous::keeps() const {
  return role_ == MeetRole::Looks || role_ == MeetRole::Leads ||
         (role_ == MeetRole::Trains && leader_ == tasks_.rank);
}

DISTRIBUTE_INLINE void ElasticRendezvous::take(TaskConnection connection) {
  const auto& client = connection.hello.client;
  const auto who = std::find_if(
      tasks_.members.begin(), tasks_.members.end(),
      [&](const ClusterMember& m) { return m.type == client.type && m.index == client.index; });
  const auto request = net::parse_message<MeetRequest>(connection.hello.detail, "request to meet");
  if (who == tasks_.members.end() || !request.ok()) return;
  const std::lock_guard lock(mutex_);
  if (role_ == MeetRole::Finished) return tell(connection.socket, MeetFrame::Finished, "");
  if (!keeps()) return tell(connection.socket, MeetFrame::Follow, std::to_string(leader_));
  const int index = int(who - tasks_.members.begin());
  if (request->options != checksum_) {
    // Of two workers that look for a leader, the lower one determines the options of the job.
    if (role_ == MeetRole::Looks && index < tasks_.rank)
      return tell(connection.socket, MeetFrame::Follow, "-1");
    return tell(connection.socket, MeetFrame::Refused, options_);
  }
  const bool trains = role_ == MeetRole::Trains;
  tell(connection.socket, MeetFrame::Accepted,
       trains ? kTrains : (role_ == MeetRole::Leads ? kLeads : kLooks));
  if (request->only_asks) return;
  waiting_.insert_or_assign(index, Waiter{std::move(connection.socket), *request});
  last_arrival_ = net::Deadline::Clock::now();
  ++arrivals_;
  changed_.notify_all();
}

DISTRIBUTE_INLINE void ElasticRendezvous::change(MeetRole role, int leader) {
  role_ = role;
  leader_ = leader;
  last_arrival_ = {};
  if (keeps()) return;
  for (auto& [index, waiter] : waiting_)
    tell(waiter.socket, role == MeetRole::Finished ? MeetFrame::Finished : MeetFrame::Follow,
         std::to_string(leader));
  waiting_.clear();
}

DISTRIBUTE_INLINE void ElasticRendezvous::become(MeetRole role, int leader) {
  const std::lock_guard lock(mutex_);
  change(role, leader);
}

DISTRIBUTE_INLINE void ElasticRendezvous::drop_closed() {
  for (auto it = waiting_.begin(); it != waiting_.end();)
    it = has_closed(it->second.socket) ? waiting_.erase(it) : std::next(it);
}

DISTRIBUTE_INLINE std::vector<std::pair<int, MeetRequest>> ElasticRendezvous::waiting() {
  const std::lock_guard lock(mutex_);
  drop_closed();
  std::vector<std::pair<int, MeetRequest>> result;
  for (const auto& [index, waiter] : waiting_) result.emplace_back(index, waiter.request);
  return result;
}

DISTRIBUTE_INLINE net::Deadline::Clock::time_point ElasticRendezvous::last_arrival() const {
  const std::lock_guard lock(mutex_);
  return last_arrival_;
}

DISTRIBUTE_INLINE void ElasticRendezvous::wait(net::Deadline deadline) {
  std::unique_lock lock(mutex_);
  const uint64_t before = arrivals_;
  changed_.wait_until(lock, deadline.when(), [&] { return arrivals_ != before; });
}

DISTRIBUTE_INLINE void ElasticRendezvous::announce(const MeetResult& result) {
  const std::lock_guard lock(mutex_);
  const std::string text = net::encode_message(result);
  for (const int index : result.members)
    if (auto waiter = waiting_.extract(index))
      tell(waiter.mapped().socket, MeetFrame::Formed, text);
  change(MeetRole::Trains, result.members[0]);
}

}  // namespace distribute::cluster_internal
