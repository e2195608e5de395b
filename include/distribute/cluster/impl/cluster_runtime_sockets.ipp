#pragma once
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/cluster_runtime_impl.hpp>
#include <distribute/net/job_token.hpp>

#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace distribute {

DISTRIBUTE_INLINE net::TaskIdentity ClusterRuntime::Impl::identity(int rank) const {
  const ClusterMember& member = tasks.members[size_t(rank)];
  return {member.type, member.index, membership->joined()[size_t(rank)].incarnation};
}

/// Returns the rank of a task of this job, and of this start of it; else -1.
DISTRIBUTE_INLINE int ClusterRuntime::Impl::rank_of(const net::TaskIdentity& task) const {
  for (int rank = 0; rank < tasks.size(); ++rank) {
    const ClusterMember& member = tasks.members[size_t(rank)];
    if (member.index == task.index && member.type == task.type)
      return identity(rank).incarnation == task.incarnation ? rank : -1;
  }
  return -1;
}

/// Ends the handshakes with tasks that may be frozen, as the job has failed.
DISTRIBUTE_INLINE void ClusterRuntime::Impl::end_dialing() {
  const std::lock_guard lock(mutex);
  for (const net::Socket* socket : dialing) socket->shutdown();
}

DISTRIBUTE_INLINE absl::StatusOr<uint64_t> ClusterRuntime::Impl::introduce(
    net::Socket& socket, const net::HandshakeHello& hello, net::Deadline deadline) {
  struct Entry {
    Impl& impl;
    const net::Socket* const socket;
    Entry(Impl& the_impl, const net::Socket* the_socket) : impl(the_impl), socket(the_socket) {
      const std::lock_guard lock(impl.mutex);
      impl.dialing.insert(socket);
    }
    ~Entry() {
      const std::lock_guard lock(impl.mutex);
      impl.dialing.erase(socket);
    }
  } const entry(*this, &socket);
  if (membership->failure()) return absl::UnavailableError("the job has failed");
  return net::handshake(socket, config, hello, deadline);
}

DISTRIBUTE_INLINE absl::StatusOr<net::Socket> ClusterRuntime::Impl::try_to_dial(
    int rank, const std::string& purpose, const std::string& detail, net::Deadline deadline) {
  constexpr double kMostConnecting = 3;  // then it looks whether the task is lost
  const auto address = net::parse_address(membership->joined()[size_t(rank)].address);
  if (!address.ok()) return address.status();
  auto socket = net::connect_patiently(
      *address, deadline.earlier(net::Deadline::after_seconds(kMostConnecting)),
      [&](const absl::Status&) { return !membership->failure().has_value(); });
  if (!socket.ok()) return socket;
  const auto remote = net::remote_address(socket->native());
  absl::Status status = remote.status();
  if (status.ok()) status = net::check_exposure(*remote, config.authenticates(), options.insecure);
  if (!status.ok()) return status;
  const net::TaskIdentity wanted = identity(rank);
  net::HandshakeHello hello;
  hello.server_type = wanted.type;
  hello.server_index = wanted.index;
  hello.purpose = purpose;
  hello.detail = detail;
  const auto incarnation = introduce(
      *socket, hello, deadline.earlier(net::Deadline::after_seconds(options.handshake_timeout)));
  if (!incarnation.ok()) return incarnation.status();
  if (*incarnation != wanted.incarnation)
    return absl::FailedPreconditionError(
        str_cat(membership->text(rank), " has been started again since the job began"));
  socket->set_peer(membership->text(rank));
  return socket;
}

DISTRIBUTE_INLINE net::Socket ClusterRuntime::Impl::dial(int rank, const std::string& purpose,
                                                         const std::string& detail,
                                                         net::Deadline deadline) {
  const auto begin = net::Deadline::Clock::now();
  auto next_line = net::Deadline::after_seconds(options.report_interval);
  for (;;) {
    const auto step = deadline.earlier(net::Deadline::after_seconds(options.handshake_timeout));
    auto socket = try_to_dial(rank, purpose, detail, step);
    if (socket.ok()) return *std::move(socket);
    membership->throw_if_gone(rank);
    if (!net::may_come(socket.status()) || deadline.passed())
      throw_if_error(annotate(socket.status(), "peer_socket: " + membership->text(rank)));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!next_line.passed()) continue;
    const std::chrono::duration<double> passed = net::Deadline::Clock::now() - begin;
    options.print(str_cat(membership->text(tasks.rank), " has tried for ",
                          std::floor(passed.count()), " s to reach ", membership->text(rank), ": ",
                          socket.status().message()));
    membership->report_late();
    next_line = net::Deadline::after_seconds(options.report_interval);
  }
}

DISTRIBUTE_INLINE TaskServer& ClusterRuntime::server() {
  if (!impl_->server)
    throw FailedPreconditionError("a job of one task opens no port, so it cannot serve");
  return *impl_->server;
}

DISTRIBUTE_INLINE net::Socket ClusterRuntime::peer_socket(int rank, const std::string& channel,
                                                          int index, OptionalDeadline deadline) {
  if (rank < 0 || rank >= size() || rank == this->rank())
    throw InvalidArgumentError(str_cat("peer_socket: rank ", rank, " is not another one of the ",
                                       size(), " ranks; this is rank ", this->rank()));
  impl_->membership->throw_if_failed();
  const std::string detail = cluster_internal::peer_detail(channel, index);
  const net::Deadline until = impl_->deadline_of(deadline);
  if (rank < this->rank())
    return impl_->dial(rank, impl_->of_generation(cluster_internal::kPeerPurpose), detail, until);
  net::Socket socket = impl_->peers.wait(
      impl_->identity(rank), detail, until,
      str_cat("peer_socket: ", describe(rank), ", channel \"", channel, "\", ", index, ","),
      [&] { impl_->membership->throw_if_gone(rank); });
  socket.set_peer(describe(rank));
  return socket;
}

DISTRIBUTE_INLINE net::Socket ClusterRuntime::dial(int rank, const std::string& purpose,
                                                   const std::string& detail,
                                                   OptionalDeadline deadline) {
  impl_->membership->throw_if_gone(rank);
  return impl_->dial(rank, impl_->of_generation(purpose.c_str()), detail,
                     impl_->deadline_of(deadline));
}

DISTRIBUTE_INLINE void ClusterRuntime::take(const std::string& purpose, TakeSocket handler) {
  Impl* const impl = impl_.get();
  server().serve(
      impl->of_generation(purpose.c_str()),
      [impl, handler = std::move(handler)](TaskConnection connection) {
        const int rank = impl->rank_of(connection.hello.client);
        connection.socket.set_peer(impl->membership->text(rank));
        handler(rank, connection.hello.detail, std::move(connection.socket));
      },
      [impl](const net::HandshakeHello& hello) {
        return impl->rank_of(hello.client) >= 0
                   ? absl::OkStatus()
                   : absl::FailedPreconditionError(hello.client.name() +
                                                   " is not this job's task of that name");
      });
}

DISTRIBUTE_INLINE void ClusterRuntime::stop_taking(const std::string& purpose) {
  server().stop_serving(impl_->of_generation(purpose.c_str()));
}

}  // namespace distribute
