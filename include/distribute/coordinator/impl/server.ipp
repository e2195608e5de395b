#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/coordinator/detail/coordinator_watch.hpp>
#include <distribute/coordinator/detail/rpc_worker_link.hpp>
#include <distribute/coordinator/detail/worker_service.hpp>
#include <distribute/coordinator/server.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/parameter_server/parameter_server.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace distribute {

namespace coordinator_internal {

DISTRIBUTE_INLINE std::string only_job(const ClusterSpec& cluster) {
  const auto& jobs = cluster.as_dict();
  if (jobs.size() != 1)
    throw InvalidArgumentError(
        str_cat("Must specify an explicit `job_name`: the cluster has ", jobs.size(), " jobs"));
  return jobs.begin()->first;
}

DISTRIBUTE_INLINE int only_task(const ClusterSpec& cluster, const std::string& job) {
  const std::vector<int> tasks = cluster.task_indices(job);
  if (tasks.size() != 1)
    throw InvalidArgumentError(str_cat("Must specify an explicit `task_index`: job ", job, " has ",
                                       tasks.size(), " tasks"));
  return tasks.front();
}

/// Throws the error of a task that does not serve.
[[noreturn]] DISTRIBUTE_INLINE void refuse_to_join(const std::string& job) {
  const bool evaluator = job == TaskType::Evaluator;
  throw FailedPreconditionError(
      "Server::join: " + job + " does not serve. " +
      (evaluator ? "An evaluator stands outside of the cluster: it evaluates the checkpoints that "
                   "the chief writes, in a loop of its own"
                 : "The chief coordinates: make a ClusterCoordinator there, and join only where "
                   "the task type is not TaskType::Chief"));
}

}  // namespace coordinator_internal

DISTRIBUTE_INLINE ServerOptions ServerOptions::from_environment() {
  ServerOptions options;
  const Environment variables;
  variables.read("DISTRIBUTE_COORDINATOR_RETURN_TIMEOUT", 0.0, 1e7,
                 options.coordinator_return_timeout);
  variables.read("DISTRIBUTE_LEAVE_TIMEOUT", 0.0, 1e7, options.leave_timeout);
  return options;
}

DISTRIBUTE_INLINE Server::Server(const ClusterSpec& cluster, ServerOptions options)
    : options_(std::move(options)), cluster_(cluster) {
  using namespace coordinator_internal;
  if (!cluster_) throw InvalidArgumentError("Server: the cluster has no jobs");
  job_name_ = options_.job_name ? *options_.job_name : only_job(cluster_);
  task_index_ = options_.task_index ? *options_.task_index : only_task(cluster_, job_name_);
  cluster_.task_address(job_name_, task_index_);  // throws when there is no such task
  if (options_.start) start();
}

DISTRIBUTE_INLINE Server::Server(Strategy& strategy, ServerOptions options)
    : options_(std::move(options)), strategy_(&strategy) {
  const auto* const servers = strategy_internal::parameter_server_extended(strategy);
  if (!servers)
    throw InvalidArgumentError(
        str_cat("Server: wanted a ParameterServerStrategy, got ", strategy.extended().name()));
  const auto& job = servers->job();
  if (!job.cluster)
    throw InvalidArgumentError("Server: the ParameterServerStrategy has no cluster to serve in");
  cluster_ = job.cluster;
  job_name_ = job.type;
  task_index_ = job.index;
  task_ = job.task;
  if (task_) options_.cluster = task_->options();
}

DISTRIBUTE_INLINE Server Server::create_local_server(ServerOptions options) {
  auto listener =
      value_or_throw(net::Listener::bind({"127.0.0.1", 0}, net::Deadline::after_seconds(10)));
  const bool start = std::exchange(options.start, false);
  options.job_name = "local";
  options.task_index = 0;
  const ClusterSpec cluster{{"local", JobTasks{listener.address().text()}}};
  Server server(cluster, std::move(options));
  if (start)
    server.task_ =
        rpc::JobTask::start({cluster, "local", 0, server.options_.cluster}, std::move(listener));
  return server;
}

DISTRIBUTE_INLINE Server::Server(Server&&) noexcept = default;
DISTRIBUTE_INLINE Server::~Server() = default;

DISTRIBUTE_INLINE void Server::start() {
  if (task_) return;
  task_ = rpc::JobTask::start({cluster_, job_name_, task_index_, options_.cluster});
}

DISTRIBUTE_INLINE std::string Server::target() const {
  return "grpc://" + cluster_.task_address(job_name_, task_index_);
}

DISTRIBUTE_INLINE int Server::join() {
  const bool serves_variables = job_name_ == TaskType::ParameterServer;
  if (job_name_ == TaskType::Chief || job_name_ == TaskType::Evaluator)
    coordinator_internal::refuse_to_join(job_name_);
  start();
  try {
    return serves_variables ? join_parameter_server() : join_worker();
  } catch (const Error& error) {
    options_.cluster.print(job_name_ + " " + std::to_string(task_index_) +
                           " ends: " + error.what());
    return exit_status(error);
  }
}

DISTRIBUTE_INLINE void Server::report_failure(const ClusterResolver& resolver) {
  const ClusterSpec cluster = resolver.cluster_spec();
  const auto type = resolver.task_type();
  const char* const chief = cluster.has_job("chief") ? "chief" : "worker";
  if (!cluster.has_job("ps") || !type || type->name() != chief || resolver.task_id() != 0) return;
  const auto deadline = net::Deadline::after_seconds(2);
  ClusterOptions options = ClusterOptions::from_environment();
  options.startup_timeout = 1;  // for the name of its own port
  const auto task = rpc::JobTask::start(
      {.cluster = cluster, .type = chief, .options = options, .announced = false});
  for (const int index : cluster.task_indices("ps")) try {
      const auto channel =
          task->connect("ps", index, deadline.earlier(net::Deadline::after_seconds(0.5)));
      channel->call("ps/failed", "", deadline);
    } catch (const Error&) {  // it does not run yet, or has ended
    }
}

namespace coordinator_internal {

/// Returns the servers, all of which the strategy has met.
DISTRIBUTE_INLINE CoordinatorWatch::Peers servers_of(rpc::JobTask& task) {
  const auto deadline = net::Deadline::after_seconds(task.options().startup_timeout);
  CoordinatorWatch::Peers servers;
  for (const int index : task.cluster().task_indices("ps"))
    servers.push_back(task.peer("ps", index, deadline));
  return servers;
}

/// Decides whether a worker that was told to leave does so now. While servers leave, too, the
/// coordinator saves, and needs the workers for the current steps. Signals to all tasks of a job do
/// not arrive at the same moment.
class WorkerLeave {
 public:
  WorkerLeave(const LeaveNotice& notice, CoordinatorWatch::Peers servers, double timeout)
      : notice_(notice), servers_(std::move(servers)), timeout_(timeout) {}

  bool operator()(bool coordinator_is_here) {
    constexpr double kOthersAreTold = 1;
    if (!notice_.has_come()) return false;
    if (!coordinator_is_here || servers_.empty()) return true;
    const auto now = net::Deadline::Clock::now();
    const bool all_leave = std::any_of(servers_.begin(), servers_.end(),
                                       [](const auto& server) { return server->is_leaving(); });
    since_ = since_.value_or(now);
    return now - *since_ >= net::seconds(all_leave ? timeout_ : kOthersAreTold);
  }

 private:
  const LeaveNotice& notice_;
  const CoordinatorWatch::Peers servers_;
  const double timeout_;
  std::optional<net::Deadline::Clock::time_point> since_ = {};
};

/// Runs a function and waits until the servers have applied its updates; then its result is
/// reported.
DISTRIBUTE_INLINE void run_and_flush(strategy_internal::ParameterServerExtended& servers,
                                     const parameter_server::UpdateOrigin& origin,
                                     const std::function<void()>& fn) {
  const auto& client = servers.job().client;
  try {
    servers.run_closure(fn, origin);
  } catch (...) {
    const std::exception_ptr first = std::current_exception();
    try {
      if (client) client->flush();
    } catch (const Error&) {  // the function's own error says more
    }
    std::rethrow_exception(first);
  }
  if (client) client->flush();
}

}  // namespace coordinator_internal

DISTRIBUTE_INLINE int Server::join_worker() {
  using namespace coordinator_internal;
  WorkerServiceOptions options;
  options.name = task_->describe(job_name_, task_index_);
  options.strategy = strategy_;
  if (strategy_)
    options.run_closure = [servers = strategy_internal::parameter_server_extended(*strategy_)](
                              const auto& origin, const auto& fn) {
      run_and_flush(*servers, origin, fn);
    };
  const LeaveNotice notice(options_.leave_signals);
  WorkerService service(options);
  const auto servers = strategy_ ? servers_of(*task_) : CoordinatorWatch::Peers();
  CoordinatorWatch watch(
      service, {.servers = servers,
                .first_patience = options_.cluster.startup_timeout,
                .return_patience = options_.coordinator_return_timeout,
                .leaves = WorkerLeave(notice, servers, options_.leave_timeout),
                .log = [this](const std::string& line) { options_.cluster.print(line); }});
  const ServiceMethods methods(
      task_, service, [&](const std::shared_ptr<rpc::Peer>& peer) { watch.greeted(peer); });
  service.serve();
  return 0;
}

DISTRIBUTE_INLINE int Server::join_parameter_server() {
  parameter_server::ServerOptions options;
  if (strategy_)
    options = strategy_internal::parameter_server_extended(*strategy_)->job().server_options;
  options.chief_timeout = options_.coordinator_return_timeout;
  options.leave_timeout = options_.leave_timeout;
  const LeaveNotice notice(options_.leave_signals);
  options.leaves = [&] { return notice.has_come(); };
  return parameter_server::ParameterServer(task_, options).join() ? kExitDone : kExitPreempted;
}

}  // namespace distribute
