#pragma once
/// Members of a job that are not trainers: one thread speaks for all of them with the leader.

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/detail/control_link.hpp>
#include <distribute/cluster/detail/membership.hpp>
#include <distribute/net/detail/handshake.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

namespace distribute::cluster_internal {

/// Plays all ranks but the leader. Used by one thread.
class PlayedMembers {
 public:
  using Clock = net::Deadline::Clock;
  using OnMessage = std::function<void(int rank, const ControlMessage& message)>;

  /// `on_message` is called for every message of the leader.
  PlayedMembers(ClusterTasks tasks, std::string token, OnMessage on_message)
      : tasks_(std::move(tasks)),
        token_(std::move(token)),
        on_message_(std::move(on_message)),
        links_(size_t(tasks_.size())),
        incarnations_(size_t(tasks_.size())),
        frozen_(size_t(tasks_.size())) {}

  /// Connects all members, some at a time, and joins.
  void join(net::Deadline deadline) {
    constexpr int kAtOnce = 64;
    std::vector<std::thread> threads;
    for (int first = 1; first <= kAtOnce; ++first)
      threads.emplace_back([this, first, deadline] {
        for (int rank = first; rank < tasks_.size(); rank += kAtOnce) connect(rank, deadline);
      });
    for (std::thread& thread : threads) thread.join();
  }

  void send(int rank, const ControlMessage& message) {
    if (links_[size_t(rank)]) links_[size_t(rank)]->send(message);
  }
  void send_all(const ControlMessage& message) {
    for (int rank = 1; rank < tasks_.size(); ++rank) send(rank, message);
  }
  /// The member neither sends heartbeats nor reads any more.
  void freeze(int rank) { frozen_[size_t(rank)] = true; }
  void close(int rank) { links_[size_t(rank)].reset(); }
  /// Returns what a member says of its progress in heartbeat `beat`.
  std::function<std::string(int rank, int64_t beat)> progress = [](int, int64_t) { return ""; };

  /// Serves all members until `done`: heartbeats are spread over the interval.
  /// Returns  whether that was before the deadline.
  bool serve(const std::function<bool()>& done, net::Deadline deadline, double interval = 1) {
    std::vector<pollfd> polled;
    std::vector<int> ranks;
    if (beats_.empty())
      for (int rank = 0; rank < tasks_.size(); ++rank)
        beats_.push_back(Clock::now() + net::seconds(interval * rank / tasks_.size()));
    while (!done()) {
      if (deadline.passed()) return false;
      beat(interval);
      polled.clear();
      ranks.clear();
      for (int rank = 1; rank < tasks_.size(); ++rank) {
        if (!links_[size_t(rank)] || frozen_[size_t(rank)]) continue;
        polled.push_back({links_[size_t(rank)]->native(), links_[size_t(rank)]->events(), 0});
        ranks.push_back(rank);
      }
      ::poll(polled.data(), polled.size(), 10);
      for (size_t i = 0; i < ranks.size(); ++i)
        if (polled[i].revents) read(ranks[i]);
    }
    return true;
  }

 private:
  void connect(int rank, net::Deadline deadline) {
    const ClusterMember& member = tasks_.members[size_t(rank)];
    incarnations_[size_t(rank)] = value_or_throw(net::random_number());
    const net::HandshakeConfig config{
        .self = {member.type, member.index, incarnations_[size_t(rank)]},
        .job = job_fingerprint(tasks_),
        .token = token_};
    const net::Address leader = value_or_throw(net::parse_address(tasks_.members[0].address));
    net::HandshakeHello hello;
    hello.server_type = tasks_.members[0].type;
    hello.server_index = tasks_.members[0].index;
    hello.purpose = kMemberPurpose;
    while (!deadline.passed()) {
      auto socket = net::connect_patiently(leader, deadline);
      if (!socket.ok() || !net::handshake(*socket, config, hello, deadline).ok()) continue;
      links_[size_t(rank)] = std::make_unique<ControlLink>(*std::move(socket), 64 << 20);
      return send(
          rank,
          {.type = ControlType::Join, .name = member.address, .value = str_cat("host ", rank / 8)});
    }
    throw DeadlineExceededError(str_cat("member ", rank, " has not reached the leader"));
  }

  void beat(double interval) {
    const auto now = Clock::now();
    for (int rank = 1; rank < tasks_.size(); ++rank) {
      if (now < beats_[size_t(rank)]) continue;
      beats_[size_t(rank)] += net::seconds(interval);
      if (frozen_[size_t(rank)]) continue;
      const int64_t number = beats_[size_t(rank)].time_since_epoch() / net::seconds(interval);
      send(rank, {.type = ControlType::Heartbeat,
                  .times = {now.time_since_epoch().count(), 0, 0},
                  .value = progress(rank, number)});
    }
  }

  void read(int rank) {
    ControlLink& link = *links_[size_t(rank)];
    link.flush();
    std::vector<ControlMessage> messages;
    const bool open = link.receive(messages).ok();
    for (const ControlMessage& message : messages) on_message_(rank, message);
    if (!open) close(rank);
  }

  const ClusterTasks tasks_;
  const std::string token_;
  const OnMessage on_message_;
  std::vector<std::unique_ptr<ControlLink>> links_;
  std::vector<uint64_t> incarnations_;
  std::vector<char> frozen_;
  std::vector<Clock::time_point> beats_;
};

}  // namespace distribute::cluster_internal
