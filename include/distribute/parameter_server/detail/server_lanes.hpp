#pragma once
/// A client's connections to all servers: calls, and lanes, which move data.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/parameter_server/detail/client_options.hpp>
#include <distribute/parameter_server/detail/gradient_memory.hpp>
#include <distribute/parameter_server/detail/server_link.hpp>
#include <distribute/parameter_server/detail/shared_arena.hpp>
#include <distribute/rpc/detail/rpc_channel.hpp>
#include <distribute/rpc/job_task.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::parameter_server {

/// Connections to servers. A server has one lane or several; each variable is assigned to one.
/// Functions for calls are thread-safe, those for lanes thread-compatible.
class ServerLanes {
 public:
  using Answer = std::shared_ptr<LinkAnswer>;

  /// Connects to all servers.
  /// Blocks  until all tasks of job "ps" are there, at most the startup timeout.
  /// Throws  InvalidArgumentError for a job without servers; FailedPreconditionError for a server
  ///          that should share memory and does not.
  ServerLanes(std::shared_ptr<rpc::JobTask> task, const ClientOptions& options);
  ServerLanes(const ServerLanes&) = delete;

  const std::shared_ptr<rpc::JobTask>& task() const { return task_; }
  int num_servers() const { return int(servers_.size()); }
  int num_lanes() const { return int(lanes_.size()); }
  int first_lane(int server) const { return servers_[size_t(server)]->first_lane; }
  /// Returns the server's shared memory; null over TCP.
  const std::shared_ptr<SharedArena>& arena(int server) const { return at(server).arena; }
  GradientMemory& gradients(int server) const { return *at(server).gradients; }
  const std::shared_ptr<ReleaseList>& released(int lane) const {
    return lanes_[size_t(lane)].link->released();
  }
  /// Returns the deadline of an operation that begins now.
  net::Deadline soon() const {
    return net::Deadline::after_seconds(task_->options().operation_timeout);
  }
  /// Throws  UnavailableError that names a lost server.
  void throw_if_lost() const;

  std::string call(int server, const std::string& method, std::string_view body,
                   net::Deadline deadline);
  std::string call(int server, const std::string& method, std::string_view body) {
    return call(server, method, body, soon());
  }

  /// Returns the lane of a server with the fewest bytes assigned; `bytes` are added to it.
  int assign_lane(int server, int64_t bytes);
  /// Queues a request; drive() sends it.
  Answer request(int lane, ServerLink::Request request) {
    return lanes_[size_t(lane)].link->send(std::move(request));
  }
  /// Moves data on all lanes until these answers have come.
  void drive(const std::vector<Answer>& answers, net::Deadline deadline);
  /// Returns the content of the answer. Throws  the error on its server.
  std::string finish(int lane, const Answer& answer);
  /// Moves the data that can be moved without waiting.
  void advance();
  int64_t bytes_moved() const;

 private:
  struct Server {
    std::shared_ptr<rpc::Peer> peer;
    std::shared_ptr<SharedArena> arena;  // of the server
    std::shared_ptr<GradientMemory> gradients;
    int first_lane = 0, lanes = 0;
    std::mutex mutex;  // guards the idle channels
    std::vector<std::shared_ptr<rpc::RpcChannel>> idle;
  };
  struct Lane {
    std::unique_ptr<ServerLink> link;
    int64_t load = 0;  // total bytes of its variables
  };

  Server& at(int server) const { return *servers_[size_t(server)]; }
  void connect(int index, const ClientOptions& options, net::Deadline deadline);
  void check_version(int index, net::Deadline deadline);
  void open_lane(Server& server, net::Deadline deadline);
  int flows(const Server& server, const ClientOptions& options) const;
  void share_memory(Server& server, ServerLink& link, net::Deadline deadline);
  std::shared_ptr<rpc::RpcChannel> take_channel(Server& server, net::Deadline deadline);

  std::shared_ptr<rpc::JobTask> task_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::deque<Lane> lanes_;
  std::vector<ServerLink*> links_;  // one for each lane
};

}  // namespace distribute::parameter_server
