#pragma once
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/detail/check_purpose.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/cluster/detail/task_ways.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace distribute {

namespace cluster_internal {

DISTRIBUTE_INLINE std::string text_of(const absl::Status& status) {
  return std::string(status.message());
}

/// The result of one attempt, and whether another one cannot succeed.
struct WayTry {
  TaskWay way;
  bool final = true;
};

DISTRIBUTE_INLINE WayTry try_way(const net::HandshakeConfig& config, const ClusterMember& to,
                                 net::Deadline deadline) {
  const auto address = net::parse_address(to.address);
  if (!address.ok()) return {{.step = "name", .problem = text_of(address.status())}};
  const auto begin = net::Deadline::Clock::now();
  const auto found = net::resolve(*address, deadline);
  const std::chrono::duration<double> took = net::Deadline::Clock::now() - begin;
  TaskWay way{.name_seconds = took.count()};
  const auto failed = [&](const char* step, const std::string& problem, bool final) {
    way.step = step;
    way.problem = problem;
    return WayTry{way, final};
  };
  if (!found.ok()) return failed("name", text_of(found.status()), false);
  auto socket = net::connect(*address, deadline);
  if (socket.status().code() == absl::StatusCode::kDeadlineExceeded)
    return failed("connect",
                  str_cat(to.address,
                          " does not answer: a firewall drops the packets (filtered), "
                          "or the host is down"),
                  false);
  if (!socket.ok()) {
    const std::string text = text_of(socket.status());
    const bool refused = text.find("refused") != text.npos;
    return failed(
        "connect",
        text + (refused ? ": no program listens there, or a firewall rejects the connection" : ""),
        false);
  }
  net::HandshakeHello hello;
  hello.server_type = to.type;
  hello.server_index = to.index;
  hello.purpose = kCheckPurpose;
  const auto answer = net::handshake(*socket, config, hello, deadline);
  // A task that serves other purposes by now has accepted the token all the same.
  if (answer.ok() || net::is_not_served(answer.status())) return {way};
  std::string problem = text_of(answer.status());
  if (problem.find("protocol version") != problem.npos)
    problem += str_cat("; ", config.self.name(), " runs distribute ", kVersion);
  return failed("handshake", problem, !net::may_come(answer.status()));
}

DISTRIBUTE_INLINE TaskWay find_way(const net::HandshakeConfig& config, const ClusterMember& to,
                                   net::Deadline deadline) {
  for (auto pause = std::chrono::milliseconds(10);;
       pause = std::min(pause * 2, std::chrono::milliseconds(250))) {
    const WayTry tried = try_way(config, to, deadline.earlier(net::Deadline::after_seconds(4)));
    if (tried.final || deadline.left() <= pause) return tried.way;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace cluster_internal

DISTRIBUTE_INLINE std::vector<TaskWay> find_task_ways(const ClusterTasks& tasks,
                                                      const ClusterOptions& options,
                                                      net::Deadline deadline) {
  const std::string address =
      options.bind_address.empty() ? tasks.self().address : options.bind_address;
  const auto parsed = value_or_throw(net::parse_address(address));
  const auto deadline_of_bind = net::Deadline::after_seconds(10);
  auto listener = options.job_token.empty() && !options.insecure
                      ? net::Listener::bind(parsed, deadline_of_bind)
                      : net::Listener::bind_for_others(parsed, deadline_of_bind);
  throw_if_error(listener.status());
  const net::HandshakeConfig config = {
      .self = {tasks.self().type, tasks.self().index, value_or_throw(net::random_number())},
      .job = job_fingerprint(tasks),
      .token = options.job_token};
  ClusterOptions quiet = options;
  quiet.log = [](const std::string&) {};  // each task reports for itself
  TaskServer server(*std::move(listener), config, quiet);
  server.serve(cluster_internal::kCheckPurpose, [](TaskConnection) {});
  server.start();
  std::vector<TaskWay> ways(size_t(tasks.size()));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < tasks.size(); ++rank) {
    const ClusterMember& to = tasks.members[size_t(rank)];
    if (rank != tasks.rank && !to.address.empty())
      threads.emplace_back(
          [&, rank] { ways[size_t(rank)] = cluster_internal::find_way(config, to, deadline); });
  }
  for (std::thread& thread : threads) thread.join();
  // A task that has failed stays for a while, so that the others get its reason.
  const auto patience = deadline.earlier(net::Deadline::after_seconds(5));
  const bool all =
      std::all_of(ways.begin(), ways.end(), [](const TaskWay& w) { return w.reached(); });
  if (!all) std::this_thread::sleep_for(patience.left());
  return ways;
}

}  // namespace distribute
