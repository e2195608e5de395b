#pragma once
/// What a task's runtime holds: its port, its membership in the job, and its connections.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/membership.hpp>
#include <distribute/cluster/detail/peer_sockets.hpp>
#include <distribute/cluster/detail/reach_check.hpp>
#include <distribute/net/socket.hpp>

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace distribute {

struct ClusterRuntime::Impl {
  Impl(ClusterTasks the_tasks, ClusterOptions the_options, net::Listener listener);
  Impl(ClusterTasks the_tasks, ClusterOptions the_options, std::shared_ptr<TaskServer> the_server,
       int64_t generation);
  ~Impl();

  std::string host_for_others(const net::Address& local) const;
  std::string address_for_others(const std::string& host) const;
  void open_server(const std::string& address);
  void start_server(net::Listener listener);
  void serve_peers();
  void make_membership();
  void announce() const;
  net::Socket dial(int rank, const std::string& purpose, const std::string& detail,
                   net::Deadline deadline);
  absl::StatusOr<net::Socket> try_to_dial(int rank, const std::string& purpose,
                                          const std::string& detail, net::Deadline deadline);
  absl::StatusOr<uint64_t> introduce(net::Socket& socket, const net::HandshakeHello& hello,
                                     net::Deadline deadline);
  void end_dialing();
  net::TaskIdentity identity(int rank) const;
  int rank_of(const net::TaskIdentity& task) const;
  /// Returns a purpose that differs between the jobs that share a port.
  std::string of_generation(const char* purpose) const {
    return generation == 0 ? purpose : str_cat(purpose, "/", generation);
  }
  std::string purpose_of_reach() const {
    return cluster_internal::reach_purpose(of_generation(cluster_internal::kMemberPurpose));
  }
  net::Deadline deadline_of(const OptionalDeadline& given) const {
    return given ? *given : net::Deadline::after_seconds(options.operation_timeout);
  }

  ClusterTasks tasks;
  ClusterOptions options;
  net::HandshakeConfig config;
  std::vector<int> hosts;
  const int64_t generation = 0;
  int exceptions = std::uncaught_exceptions();
  // The order matters: the server's handlers use the two members before it, and the leader's
  // membership uses the server.
  cluster_internal::PeerSockets peers;
  std::mutex mutex;                      // guards the two members below
  std::set<const net::Socket*> dialing;  // whose other end may be frozen
  std::map<std::string, int> numbers;
  std::shared_ptr<TaskServer> server;
  std::unique_ptr<cluster_internal::Membership> membership;
  std::unique_ptr<ReadyFile> ready;  // once all have joined
};

}  // namespace distribute
