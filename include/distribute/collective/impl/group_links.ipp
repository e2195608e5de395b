#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/group_links.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE GroupLinks::GroupLinks(std::shared_ptr<ClusterRuntime> runtime, GroupPlace place)
    : runtime_(std::move(runtime)), place_(std::move(place)) {}

DISTRIBUTE_INLINE GroupLinks::~GroupLinks() { runtime_->stop_taking(purpose(place_.rank)); }

DISTRIBUTE_INLINE std::string GroupLinks::purpose(int rank) const {
  return str_cat("links/", place_.name, "/", place_.number, "/", rank);
}

DISTRIBUTE_INLINE void GroupLinks::start(std::function<void()> wake) {
  wake_ = std::move(wake);
  runtime_->take(purpose(place_.rank),
                 [this](int task, const std::string& detail, net::Socket socket) {
                   take(task, detail, std::move(socket));
                 });
}

DISTRIBUTE_INLINE std::string GroupLinks::name(int rank) const {
  return runtime_->describe(place_.tasks[size_t(rank)]);
}

DISTRIBUTE_INLINE bool GroupLinks::is_near(int rank) const {
  const auto& hosts = runtime_->hosts();
  return hosts[size_t(place_.tasks[size_t(rank)])] == hosts[size_t(runtime_->rank())];
}

DISTRIBUTE_INLINE int GroupLinks::most_flows(int rank) const {
  return is_near(rank) ? 1 : collective::most_flows(int(place_.tasks.size()));
}

DISTRIBUTE_INLINE int GroupLinks::most_connections() const {
  return collective::most_connections(int(place_.tasks.size()));
}

DISTRIBUTE_INLINE net::Socket GroupLinks::dial(int rank, net::Deadline deadline) {
  return runtime_->dial(place_.tasks[size_t(rank)], purpose(rank), str_cat(place_.rank), deadline);
}

/// The detail is the rank that has dialled.
DISTRIBUTE_INLINE void GroupLinks::take(int task, const std::string& detail, net::Socket socket) {
  int rank = -1;
  const auto parsed = std::from_chars(detail.data(), detail.data() + detail.size(), rank);
  if (parsed.ec != std::errc() || rank < 0 || rank >= int(place_.tasks.size()) ||
      place_.tasks[size_t(rank)] != task)
    throw InvalidArgumentError(str_cat("it is not a rank of the group \"", place_.name, "\" of ",
                                       runtime_->describe(task)));
  const std::lock_guard lock(mutex_);
  if (closed_) return part(std::move(socket));
  arrived_.push_back({rank, std::move(socket)});
  wake_();
}

DISTRIBUTE_INLINE std::vector<Links::Arrived> GroupLinks::arrived() {
  const std::lock_guard lock(mutex_);
  return std::exchange(arrived_, {});
}

DISTRIBUTE_INLINE void GroupLinks::part(net::Socket socket) {
  (void)socket.write_some(std::as_bytes(std::span(farewell_)));
  socket.end_writing();
  parted_.push_back(std::move(socket));
}

DISTRIBUTE_INLINE void GroupLinks::close(const std::string& farewell) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(closed_, true)) return;
  farewell_ = farewell;
  for (Arrived& one : std::exchange(arrived_, {})) part(std::move(one.socket));
}

DISTRIBUTE_INLINE net::Socket first_link(ClusterRuntime& runtime, const GroupPlace& place,
                                         int peer) {
  const auto [low, high] = std::minmax(place.rank, peer);
  return runtime.peer_socket(place.tasks[size_t(peer)], str_cat(place.name, "/", low, "-", high),
                             0);
}

DISTRIBUTE_INLINE void prepare_links(ClusterRuntime& runtime, int ranks_here, int ranks) {
  constexpr int kOther = 8;  // to wake threads, and connections that are being made
  const int least = ranks_here * int(first_peers(0, ranks).size());
  const int most = ranks_here * std::max(ranks, most_connections(ranks));
  try {
    base_internal::prepare_descriptors(runtime.describe(runtime.rank()), least + kOther, most + 64);
  } catch (const Error& error) {
    runtime.report_error(error.code(), error.what());
    throw;
  }
}

}  // namespace distribute::collective
