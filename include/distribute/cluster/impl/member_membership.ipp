#pragma once
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/host_identity.hpp>
#include <distribute/cluster/detail/member_membership.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>

#include <poll.h>

namespace distribute::cluster_internal {

inline std::string message_of(const absl::Status& status) {
  const auto text = status.message();
  return std::string(text.data(), text.size());
}

DISTRIBUTE_INLINE MemberMembership::MemberMembership(ClusterTasks tasks, ClusterOptions options,
                                                     net::HandshakeConfig config,
                                                     OpenServer open_server, std::string purpose)
    : Membership(std::move(tasks), std::move(options)),
      config_(std::move(config)),
      open_server_(std::move(open_server)),
      purpose_(std::move(purpose)),
      next_report_(net::Deadline::Clock::now() + net::seconds(options_.report_interval)) {}

DISTRIBUTE_INLINE MemberMembership::~MemberMembership() {
  reach_.stop();
  stop_thread();
}

/// Joins; a leader that is not there yet, or ends before the job has started, may come (again).
DISTRIBUTE_INLINE void MemberMembership::join(net::Deadline deadline) {
  for (;;) {
    const absl::Status status = try_to_join(deadline);
    if (status.ok()) break;
    if (!net::may_come(status)) throw_if_error(status);
    if (deadline.left() < std::chrono::milliseconds(50))
      throw DeadlineExceededError(
          str_cat("the job could not start within ", options_.startup_timeout,
                  " s (DISTRIBUTE_STARTUP_TIMEOUT): ",
                  missing_.empty()
                      ? str_cat(text(0), ", the leader, has not answered: ", message_of(status))
                      : "the leader waits for " + missing_));
    report(message_of(status));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  start_thread();
}

DISTRIBUTE_INLINE void MemberMembership::report(const std::string& line) {
  const Time now = net::Deadline::Clock::now();
  if (now < next_report_) return;
  next_report_ = now + net::seconds(options_.report_interval);
  options_.print(str_cat(tasks_.self().name(), " waits for the leader, ", text(0), ": ", line));
}

DISTRIBUTE_INLINE absl::Status MemberMembership::try_to_join(net::Deadline deadline) {
  auto socket = reach_leader(deadline);
  absl::Status status = socket.status();
  if (status.ok()) status = introduce(*socket, deadline);
  if (status.ok()) status = await_start(*std::move(socket), deadline);
  return status;
}

DISTRIBUTE_INLINE absl::StatusOr<net::Socket> MemberMembership::reach_leader(
    net::Deadline deadline) {
  const auto address = net::parse_address(tasks_.members[0].address);
  if (!address.ok()) return address.status();
  auto socket = net::connect_patiently(*address, deadline, [&](const absl::Status& why) {
    report(message_of(why));
    return true;
  });
  if (!socket.ok()) return socket;
  const auto remote = net::remote_address(socket->native());
  if (!remote.ok()) return remote.status();
  const absl::Status exposed =
      net::check_exposure(*remote, config_.authenticates(), options_.insecure);
  if (!exposed.ok()) return exposed;
  return socket;
}

DISTRIBUTE_INLINE absl::Status MemberMembership::introduce(net::Socket& socket,
                                                           net::Deadline deadline) {
  const auto local = net::local_address(socket.native());
  if (!local.ok()) return local.status();
  const std::string announced = open_server_(*local);
  net::HandshakeHello hello;
  hello.server_type = tasks_.members[0].type;
  hello.server_index = tasks_.members[0].index;
  hello.purpose = purpose_;
  const auto welcomed =
      net::handshake(socket, config_, hello,
                     deadline.earlier(net::Deadline::after_seconds(options_.handshake_timeout)));
  if (!welcomed.ok()) return welcomed.status();
  const std::string join =
      ControlMessage{.type = ControlType::Join, .name = announced, .value = host_identity()}
          .encode();
  return socket.write(std::as_bytes(std::span(join)), deadline);
}

/// The leader counts silence from the hello on: it hears from this task while that waits.
DISTRIBUTE_INLINE absl::Status MemberMembership::await_message(
    ControlLink& link, net::Deadline deadline, std::vector<ControlMessage>& messages) {
  while (messages.empty()) {
    link.send({.type = ControlType::Heartbeat, .times = {clock_ns(), 0, 0}});
    const auto beat = net::Deadline::after_seconds(options_.heartbeat_interval).earlier(deadline);
    do {
      pollfd entry{link.native(), link.events(), 0};
      ::poll(&entry, 1, beat.left_ms());
      link.flush();
      const absl::Status status = link.receive(messages);
      if (!status.ok() && messages.empty()) return status;
    } while (messages.empty() && !beat.passed());
    if (messages.empty() && deadline.passed())
      return absl::DeadlineExceededError("the leader has not started the job in time");
  }
  return absl::OkStatus();
}

DISTRIBUTE_INLINE absl::Status MemberMembership::await_start(net::Socket socket,
                                                             net::Deadline deadline) {
  auto link = std::make_unique<ControlLink>(std::move(socket),
                                            uint64_t(options_.max_message_bytes) + (1 << 20));
  for (;;) {
    std::vector<ControlMessage> messages;
    const absl::Status status = await_message(*link, deadline, messages);
    if (!status.ok()) return status;
    for (auto message = messages.begin(); message != messages.end(); ++message) {
      if (message->type == ControlType::Waiting) missing_ = message->name;
      if (message->type == ControlType::Failed)  // final: join() shall not try again
        throw_error(StatusCode(message->code), message->name);
      if (message->type != ControlType::Start) continue;
      const absl::Status taken = take_start(*message, std::move(link));
      const std::lock_guard lock(mutex_);
      while (taken.ok() && ++message != messages.end()) handle(*message);
      return taken;
    }
  }
}

DISTRIBUTE_INLINE absl::Status MemberMembership::take_start(const ControlMessage& message,
                                                            std::unique_ptr<ControlLink> link) {
  auto members = net::parse_message<JoinedMembers>(message.value, "list of tasks");
  if (!members.ok()) return members.status();
  if (members->size() != tasks_.members.size() ||
      (*members)[size_t(tasks_.rank)].incarnation != config_.self.incarnation)
    return absl::InternalError(str_cat(text(0), " has started a job without this task"));
  const std::lock_guard lock(mutex_);
  joined_ = *std::move(members);
  link_ = std::move(link);
  peers_.arrive(0, link_->heard());
  started_ = true;
  return absl::OkStatus();
}

DISTRIBUTE_INLINE void MemberMembership::submit(const ControlMessage& message) {
  if (link_) link_->send(message);
}

DISTRIBUTE_INLINE void MemberMembership::watch(std::vector<pollfd>& polled) {
  if (link_) polled.push_back({link_->native(), link_->events(), 0});
}

DISTRIBUTE_INLINE void MemberMembership::exchange(const std::vector<pollfd>&, Time) {
  if (!link_) return;
  link_->flush();
  std::vector<ControlMessage> messages;
  const absl::Status status = link_->receive(messages);
  peers_.heard(0, link_->heard());
  for (const ControlMessage& message : messages) handle(message);
  if (!status.ok())
    leader_gone(status.code() == absl::StatusCode::kUnavailable
                    ? "it closed its connections: it crashed or was killed"
                    : "protocol error: " + message_of(status));
}

DISTRIBUTE_INLINE void MemberMembership::leader_gone(const std::string& why) {
  link_.reset();
  const auto departure = peers_.close(0, why);
  if (departure && !leaving_) departed(*departure);
  changed_.notify_all();
}

DISTRIBUTE_INLINE void MemberMembership::departed(const PeerDeparture& peer) {
  fail_lost(0, peer.reason);
}

DISTRIBUTE_INLINE void MemberMembership::handle(const ControlMessage& message) {
  switch (message.type) {
    case ControlType::Reply: return requests_.answer(message);
    case ControlType::Echo:
      clock_.add(message.times[0], message.times[1], message.times[2], clock_ns());
      take_progress(message.value);
      if (clock_.trips() < 4) heartbeat(last_progress_);  // a good estimate at once
      return;
    case ControlType::Failed:
      if (is_large()) take_progress(message.value);
      if (message.rank >= 0 && message.rank < tasks_.size())
        fail({message.rank, StatusCode(message.code), message.name});
      return;
    case ControlType::Left:
      if (message.rank >= 0 && message.rank < tasks_.size()) note_left(message.rank);
      return;
    case ControlType::Ask: return look_for_others();
    case ControlType::Released:
      released_ = true;
      changed_.notify_all();
      return;
    default: return;
  }
}

DISTRIBUTE_INLINE void MemberMembership::take_progress(const std::string& bytes) {
  if (!is_large()) return board_.apply(bytes);
  if (bytes.empty()) return;
  auto groups = net::parse_message<std::vector<ProgressGroup>>(bytes, "groups of tasks");
  if (!groups.ok()) return;
  std::erase_if(*groups, [this](const ProgressGroup& group) {
    return group.ranks.empty() ||
           std::any_of(group.ranks.begin(), group.ranks.end(),
                       [this](uint32_t rank) { return rank >= tasks_.members.size(); });
  });
  groups_ = *std::move(groups);
}

/// Dials the tasks on other hosts that this task has dialled before.
DISTRIBUTE_INLINE void MemberMembership::look_for_others() {
  std::vector<int> ranks;
  for (int rank = 1; rank < tasks_.rank; ++rank)
    if (!has_left_[size_t(rank)] && joined_[size_t(rank)].host != joined_[size_t(tasks_.rank)].host)
      ranks.push_back(rank);
  reach_.begin(
      std::move(ranks), options_.lost_after,
      [this](int rank, net::Deadline deadline) { return reaches(rank, deadline); },
      [this](const UnreachedRanks& unreached) {
        const std::lock_guard lock(mutex_);
        submit({.type = ControlType::Unreached,
                .rank = tasks_.rank,
                .value = net::encode_message(unreached)});
        wake_up_.signal();
      });
}

/// Whether the task's host accepts a connection, whatever the task is doing.
DISTRIBUTE_INLINE bool MemberMembership::reaches(int rank, net::Deadline deadline) const {
  const auto address = net::parse_address(joined_[size_t(rank)].address);
  if (!address.ok()) return true;
  auto socket = net::connect(*address, deadline);
  if (!socket.ok()) return false;
  net::HandshakeHello hello;
  hello.server_type = tasks_.members[size_t(rank)].type;
  hello.server_index = tasks_.members[size_t(rank)].index;
  hello.purpose = reach_purpose(purpose_);
  (void)net::handshake(*socket, config_, hello, deadline);
  return true;
}

DISTRIBUTE_INLINE void MemberMembership::heartbeat(const std::string& progress) {
  last_progress_ = progress;
  board_.set(tasks_.rank, progress);
  submit({.type = ControlType::Heartbeat,
          .code = wants_progress_.exchange(false) ? 1 : 0,
          .times = {clock_ns(), 0, 0},
          .value = progress.substr(0, kProgressBytes)});
}

/// Reports the failure to the leader, which learns it in this way if it was only frozen.
DISTRIBUTE_INLINE void MemberMembership::announce(const TaskFailure& failure) {
  if (failure.rank != 0 || failure.code != StatusCode::Unavailable) return;
  submit({.type = ControlType::Failed, .rank = 0, .name = failure.reason});
}

DISTRIBUTE_INLINE bool MemberMembership::shutdown_done() const { return released_ || !link_; }

DISTRIBUTE_INLINE void MemberMembership::shutdown_overdue() {
  options_.print(str_cat(tasks_.self().name(), " leaves after waiting ", options_.shutdown_timeout,
                         " s for tasks that still work"));
}

}  // namespace distribute::cluster_internal
