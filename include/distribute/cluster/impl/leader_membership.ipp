#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/cluster/detail/leader_membership.hpp>

#include <algorithm>
#include <cstdio>

#include <poll.h>

namespace distribute::cluster_internal {

/// Returns "1 of 3: worker 1 (10.0.0.2:2222)", at most 20 names.
DISTRIBUTE_INLINE std::string count_and_names(const std::vector<std::string>& names, size_t all) {
  std::string text = str_cat(names.size(), " of ", all, ": ");
  for (size_t i = 0; i < std::min<size_t>(names.size(), 20); ++i)
    text += (i ? ", " : "") + names[i];
  return names.size() > 20 ? str_cat(text, " and ", names.size() - 20, " more") : text;
}

DISTRIBUTE_INLINE std::string incarnation_text(uint64_t incarnation) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(incarnation));
  return digits;
}

DISTRIBUTE_INLINE LeaderMembership::LeaderMembership(ClusterTasks tasks, ClusterOptions options,
                                                     TaskServer* server, JoinedMember self,
                                                     std::string purpose)
    : Membership(std::move(tasks), std::move(options)),
      server_(server),
      purpose_(std::move(purpose)),
      slots_(tasks_.members.size()) {
  joined_[0] = std::move(self);
  slots_[0].joined = true;
  joining_ = slots_.size() - 1;
  if (server_)
    server_->serve(
        purpose_, [this](TaskConnection connection) { take(std::move(connection)); },
        [this](const net::HandshakeHello& hello) { return admit(hello); });
  if (server_) server_->start();
  start_thread();
}

DISTRIBUTE_INLINE LeaderMembership::~LeaderMembership() {
  if (server_) server_->stop_serving(purpose_);
  stop_thread();
}

DISTRIBUTE_INLINE int LeaderMembership::rank_of(const net::TaskIdentity& who) const {
  for (size_t rank = 0; rank < tasks_.members.size(); ++rank)
    if (tasks_.members[rank].type == who.type && tasks_.members[rank].index == who.index)
      return int(rank);
  return -1;
}

DISTRIBUTE_INLINE absl::Status LeaderMembership::admit(const net::HandshakeHello& hello) {
  const std::lock_guard lock(mutex_);
  const int rank = rank_of(hello.client);
  if (rank < 0)
    return absl::FailedPreconditionError(str_cat(hello.client.name(), " is not in this cluster"));
  return check_free(rank, hello.client.incarnation);
}

/// Before the job has started, the process that has joined as this task may be frozen or cut off: a
/// second one tries again until the first has answered since, or has been silent for too long.
DISTRIBUTE_INLINE absl::Status LeaderMembership::refuse_contender(int rank, uint64_t incarnation) {
  Slot& slot = slots_[size_t(rank)];
  const std::string name = tasks_.members[size_t(rank)].name();
  const uint64_t first = rank == 0 ? joined_[0].incarnation : slot.incarnation;
  const std::string text =
      str_cat(name, " is in the job already, from ",
              rank == 0 ? joined_[0].address : slot.link->peer(), " with incarnation ",
              incarnation_text(first), ": two processes were started as the same task");
  if (rank == 0 || started_ ||
      slot.contest.is_decided(incarnation, slot.link->heard(), net::Deadline::Clock::now()))
    return absl::FailedPreconditionError(text);
  return absl::UnavailableError(str_cat(text, ", or that one is silent"));
}

DISTRIBUTE_INLINE absl::Status LeaderMembership::check_free(int rank, uint64_t incarnation) {
  const Slot& slot = slots_[size_t(rank)];
  const std::string name = tasks_.members[size_t(rank)].name();
  if (rank == 0 || slot.link) return refuse_contender(rank, incarnation);
  if (failure_)
    return absl::FailedPreconditionError(
        str_cat("the job has failed (", failure_->reason, "): start all tasks again"));
  if (started_)
    return absl::FailedPreconditionError(
        str_cat("the job runs already and ", name, " has left it: start all tasks again"));
  return absl::OkStatus();
}

DISTRIBUTE_INLINE void LeaderMembership::take(TaskConnection connection) {
  const std::lock_guard lock(mutex_);
  const int rank = rank_of(connection.hello.client);
  auto link = std::make_unique<ControlLink>(std::move(connection.socket),
                                            uint64_t(options_.max_message_bytes) + (1 << 20));
  if (const absl::Status free = check_free(rank, connection.hello.client.incarnation);
      !free.ok()) {  // two came at the same moment
    const auto why = free.message();
    link->send({.type = ControlType::Failed,
                .rank = rank,
                .code = int32_t(free.raw_code()),
                .name = std::string(why.data(), why.size())});
    return;
  }
  slots_[size_t(rank)].link = std::move(link);
  slots_[size_t(rank)].incarnation = connection.hello.client.incarnation;
  peers_.arrive(rank, net::Deadline::Clock::now());
  wake_up_.signal();
}

DISTRIBUTE_INLINE void LeaderMembership::join(net::Deadline deadline) {
  std::unique_lock lock(mutex_);
  if (!started_ && joining_ == 0) start();  // a job of one task
  while (!started_) {
    const auto step = deadline.earlier(net::Deadline::after_seconds(options_.report_interval));
    if (changed_.wait_until(lock, step.when(), [&] { return started_ || failure_; })) break;
    if (!deadline.passed()) {
      report_missing();
      continue;
    }
    fail({0, StatusCode::DeadlineExceeded,
          str_cat("the job could not start: after ", options_.startup_timeout,
                  " s (DISTRIBUTE_STARTUP_TIMEOUT) these tasks have not joined: ", missing())});
  }
  if (!started_) throw_error(failure_->code, failure_->reason);
}

DISTRIBUTE_INLINE std::string LeaderMembership::missing() const {
  std::vector<std::string> names;
  for (size_t rank = 0; rank < slots_.size(); ++rank)
    if (!slots_[rank].joined) names.push_back(text(int(rank)));
  return names.empty() ? "" : count_and_names(names, slots_.size());
}

DISTRIBUTE_INLINE void LeaderMembership::report_missing() {
  const std::string names = missing();
  options_.print(str_cat(text(0), " waits for ", names));
  send_all({.type = ControlType::Waiting, .name = names});
}

DISTRIBUTE_INLINE void LeaderMembership::start() {
  std::vector<std::string> names;
  for (size_t rank = 0; rank < slots_.size(); ++rank) names.push_back(text(int(rank)));
  rendezvous_ = std::make_unique<Rendezvous>(
      std::move(names), size_t(options_.max_message_bytes),
      [this](int rank, const ControlMessage& reply) { send(rank, reply); });
  started_ = true;
  send_all({.type = ControlType::Start, .value = net::encode_message(joined_)});
  changed_.notify_all();
}

DISTRIBUTE_INLINE void LeaderMembership::send(int rank, const ControlMessage& message) {
  if (rank == 0) return requests_.answer(message);
  Slot& slot = slots_[size_t(rank)];
  if (slot.link) slot.link->send(message);
}

/// Encodes the message once for all other tasks.
DISTRIBUTE_INLINE void LeaderMembership::send_all(const ControlMessage& message) {
  const auto frame = std::make_shared<const std::string>(message.encode());
  for (const Slot& slot : slots_)
    if (slot.link) slot.link->send(frame);
}

DISTRIBUTE_INLINE void LeaderMembership::submit(const ControlMessage& message) {
  handle(0, message);
}

DISTRIBUTE_INLINE void LeaderMembership::watch(std::vector<pollfd>& polled) {
  watched_.clear();
  for (size_t rank = 1; rank < slots_.size(); ++rank) {
    const auto& link = slots_[rank].link;
    if (!link) continue;
    polled.push_back({link->native(), link->events(), 0});
    watched_.push_back(int(rank));
  }
}

DISTRIBUTE_INLINE void LeaderMembership::exchange(const std::vector<pollfd>& polled, Time now) {
  for (size_t i = 0; i < watched_.size(); ++i)
    if (polled[i + 1].revents != 0 && slots_[size_t(watched_[i])].link) read_link(watched_[i]);
  if (!rendezvous_) return;
  rendezvous_->expire(now);
  for (const std::string& line : rendezvous_->lines(now)) options_.print(line);
}

DISTRIBUTE_INLINE void LeaderMembership::read_link(int rank) {
  ControlLink& link = *slots_[size_t(rank)].link;
  link.flush();
  std::vector<ControlMessage> messages;
  const absl::Status status = link.receive(messages);
  peers_.heard(rank, link.heard());
  for (const ControlMessage& message : messages) handle(rank, message);
  if (!status.ok()) link_closed(rank, status);
}

/// Handles a member that was silent for too long.
DISTRIBUTE_INLINE void LeaderMembership::departed(const PeerDeparture& peer) {
  if (started_)
    fail_lost(peer.peer, peer.reason);
  else
    free_place(peer.peer, "was " + peers_.silence());
}

/// Lets the task, or another process in its place, join again before the job has started.
DISTRIBUTE_INLINE void LeaderMembership::free_place(int rank, const std::string& why) {
  joining_ += slots_[size_t(rank)].joined;
  slots_[size_t(rank)] = {};
  options_.print(str_cat(text(rank), " ", why, " before the job started"));
}

DISTRIBUTE_INLINE void LeaderMembership::link_closed(int rank, const absl::Status& why) {
  slots_[size_t(rank)].link.reset();
  const auto message = why.message();
  const auto departure =
      peers_.close(rank, why.code() == absl::StatusCode::kUnavailable
                             ? "it closed its connections: it crashed or was killed"
                             : "protocol error: " + std::string(message.data(), message.size()));
  if (!started_)
    free_place(rank, "has disconnected");
  else if (departure && departure->lost)
    fail_lost(rank, departure->reason);
  changed_.notify_all();
}

DISTRIBUTE_INLINE void LeaderMembership::handle(int rank, const ControlMessage& message) {
  switch (message.type) {
    case ControlType::Join: return handle_join(rank, message);
    case ControlType::Heartbeat: return echo(rank, message, clock_ns());
    case ControlType::Leave: return handle_leave(rank);
    case ControlType::Error:
      return fail({rank, StatusCode(message.code), str_cat(text(rank), " failed: ", message.name)});
    case ControlType::Failed: return handle_given_up(rank, message);
    case ControlType::Late: return handle_late();
    case ControlType::Unreached: return handle_unreached(rank, message);
    default:
      if (rendezvous_) rendezvous_->handle(rank, message, net::Deadline::Clock::now());
  }
}

DISTRIBUTE_INLINE void LeaderMembership::handle_join(int rank, const ControlMessage& message) {
  Slot& slot = slots_[size_t(rank)];
  if (started_ || slot.joined) return;
  slot.joined = true;
  joined_[size_t(rank)] = {message.name, slot.incarnation, message.value};
  if (--joining_ == 0) start();
}

DISTRIBUTE_INLINE void LeaderMembership::echo(int rank, const ControlMessage& message,
                                              int64_t received) {
  board_.set(rank, message.value);
  const Time now = net::Deadline::Clock::now();
  const bool asks = is_large() && message.code == 1;
  send(rank, {.type = ControlType::Echo,
              .times = {message.times[0], received, clock_ns()},
              .value = asks         ? groups(now)
                       : is_large() ? std::string()
                                    : board_.changes(slots_[size_t(rank)].seen)});
}

/// Returns the groups of tasks, which are found once a heartbeat for all that ask.
DISTRIBUTE_INLINE std::string LeaderMembership::groups(Time now) {
  if (now < groups_until_) return groups_sent_;
  groups_until_ = now + net::seconds(options_.heartbeat_interval);
  groups_sent_ = net::encode_message(group_progress(board_.texts()));
  return groups_sent_;
}

DISTRIBUTE_INLINE void LeaderMembership::handle_leave(int rank) {
  peers_.leave(rank);
  note_left(rank);
  if (rendezvous_) rendezvous_->has_left(rank);
  if (left_.size() < slots_.size()) return;
  released_ = true;
  send_all({.type = ControlType::Released});
  changed_.notify_all();
}

/// Tells them with the next heartbeat, as tasks that leave together need not hear of each other.
DISTRIBUTE_INLINE void LeaderMembership::tell_left() {
  for (; told_left_ < left_.size() && !released_; ++told_left_)
    for (size_t other = 1; other < slots_.size(); ++other)
      if (!has_left_[other])
        send(int(other), {.type = ControlType::Left, .rank = left_[told_left_]});
}

/// Handles a member that counts the leader as lost, or waits for a task that has left.
DISTRIBUTE_INLINE void LeaderMembership::handle_given_up(int rank, const ControlMessage& message) {
  if (message.code == 0)
    return fail_lost(
        0, str_cat("the others have given up on it; ", text(rank), " says: ", message.name));
  const bool known = message.rank >= 0 && message.rank < tasks_.size();
  if (known && has_left_[size_t(message.rank)])
    fail({message.rank, StatusCode::Unavailable,
          str_cat(text(message.rank), " has left the job, and ", text(rank), " waits for it in ",
                  message.name)});
}

/// Asks all tasks whom they do not reach, unless it has just done so.
DISTRIBUTE_INLINE void LeaderMembership::handle_late() {
  const Time now = net::Deadline::Clock::now();
  if (!started_ || failure_ || now < next_question_) return;
  next_question_ = now + net::seconds(2 * options_.lost_after);
  partition_.clear();
  asked_.clear();
  for (int rank = 2; rank < tasks_.size(); ++rank)  // all others reach this task
    if (!has_left_[size_t(rank)] && slots_[size_t(rank)].link) asked_.insert(rank);
  for (const int rank : asked_) send(rank, {.type = ControlType::Ask});
}

/// Handles an answer; all members answer after options_.lost_after, or are lost.
DISTRIBUTE_INLINE void LeaderMembership::handle_unreached(int rank, const ControlMessage& message) {
  const auto ranks = net::parse_message<UnreachedRanks>(message.value, "list of ranks");
  if (!ranks.ok() || asked_.erase(rank) == 0) return;
  for (const int other : *ranks)
    if (other > 0 && other < rank && !has_left_[size_t(other)]) partition_.add(rank, other);
  if (!asked_.empty() || partition_.empty() || failure_) return;
  const std::string reason =
      partition_.text([this](int one) { return text(one); }, text(0), options_.lost_after);
  options_.print(reason);
  fail({*partition_.smaller_side().rbegin(), StatusCode::Aborted, reason});
}

DISTRIBUTE_INLINE void LeaderMembership::heartbeat(const std::string& progress) {
  board_.set(0, progress);
  tell_left();
}

DISTRIBUTE_INLINE Membership::Time LeaderMembership::next_event() const {
  return rendezvous_ ? rendezvous_->next_expiry() : Time::max();
}

/// Tells each task of the smaller side of a partition that it is the one that has failed.
DISTRIBUTE_INLINE void LeaderMembership::announce(const TaskFailure& failure) {
  const std::set<int> left_out = partition_.smaller_side();
  groups_until_ = {};
  const std::string places = is_large() ? groups(net::Deadline::Clock::now()) : std::string();
  ControlMessage message{.type = ControlType::Failed,
                         .rank = failure.rank,
                         .code = int32_t(failure.code),
                         .name = failure.reason,
                         .value = places};
  if (left_out.empty()) return send_all(message);
  for (int rank = 1; rank < tasks_.size(); ++rank) {
    message.rank = left_out.contains(rank) ? rank : failure.rank;
    send(rank, message);
  }
}

/// Whether all others have closed; they close first, so that no message to them is lost.
DISTRIBUTE_INLINE bool LeaderMembership::shutdown_done() const {
  return released_ && std::none_of(slots_.begin(), slots_.end(),
                                   [](const Slot& slot) { return slot.link != nullptr; });
}

DISTRIBUTE_INLINE void LeaderMembership::shutdown_overdue() {
  if (released_) return;
  options_.print(str_cat(text(0), " leaves after waiting ", options_.shutdown_timeout,
                         " s for tasks that still work: ", still_working()));
  for (size_t rank = 1; rank < slots_.size(); ++rank)
    send(int(rank),
         has_left_[rank]
             ? ControlMessage{.type = ControlType::Released}
             : ControlMessage{.type = ControlType::Failed,
                              .rank = 0,
                              .code = int32_t(StatusCode::Unavailable),
                              .name = str_cat(text(0), ", the leader, has finished and left")});
}

DISTRIBUTE_INLINE std::string LeaderMembership::still_working() const {
  std::vector<std::string> names;
  for (size_t rank = 0; rank < slots_.size(); ++rank)
    if (!has_left_[rank]) names.push_back(text(int(rank)));
  return count_and_names(names, slots_.size());
}

}  // namespace distribute::cluster_internal
