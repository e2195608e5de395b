#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/detail/announce_task.hpp>
#include <distribute/cluster/detail/lone_process.hpp>
#include <distribute/cluster/detail/own_port.hpp>
#include <distribute/cluster/detail/task_server.hpp>
#include <distribute/net/job_token.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/rpc/detail/peer_monitor.hpp>
#include <distribute/rpc/detail/rpc_message.hpp>
#include <distribute/rpc/job_task.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

namespace distribute::rpc {

/// The tasks whose ports this process has open.
struct OpenTasks {
  std::mutex mutex;  // guards by_name
  std::map<std::string, std::weak_ptr<JobTask>> by_name;
};

/// Returns a text that is equal for options of the same task.
DISTRIBUTE_INLINE std::string full_name(const JobTaskOptions& options) {
  return str_cat(options.type, " ", options.index, " at ", options.options.bind_address, " of ",
                 options.cluster.to_json(), " ", options.service, " ", options.options.job_token);
}

/// A connection, and which start of the task is at its other end.
struct Dialed {
  net::Socket socket;
  uint64_t incarnation = 0;
};

struct JobTask::Impl {
  struct Known {
    std::mutex mutex;  // held while the task is dialed; guards peer
    std::shared_ptr<Peer> peer;
  };

  Impl(JobTaskOptions options, net::Listener listener);
  void open(net::Listener listener);
  PeerName client_name(const net::HandshakeHello& hello) const;
  void accept_heartbeat(TaskConnection connection);
  absl::StatusOr<Dialed> try_to_dial(const PeerName& to, const std::string& purpose,
                                     const std::string& detail, net::Deadline deadline);
  Dialed dial(const PeerName& to, const std::string& purpose, const std::string& detail,
              net::Deadline deadline, const Peer* alive);
  PeerName find(const std::string& type, int index) const;

  JobTaskOptions given;
  net::HandshakeConfig config;
  PeerName self;
  std::mutex mutex;  // guards known
  std::map<std::string, std::shared_ptr<Known>> known;
  // The order matters: handlers of the server use the monitor, calls use both.
  std::unique_ptr<PeerMonitor> monitor;
  std::unique_ptr<TaskServer> server;
  std::unique_ptr<RpcServer> rpc;
  std::unique_ptr<ReadyFile> ready;
};

/// Returns all tasks of the cluster, in an order that is the same in every task of the job.
DISTRIBUTE_INLINE ClusterTasks tasks_of_job(const JobTaskOptions& options) {
  ClusterTasks tasks;
  for (const auto& [job, members] : options.cluster.as_dict())
    for (const auto& [index, address] : members.by_index()) {
      if (job == options.type && index == options.index) tasks.rank = tasks.size();
      tasks.members.push_back({job, index, address});
    }
  check_tasks(tasks);
  cluster_internal::check_loopback(tasks, options.options);
  return tasks;
}

/// Returns the number of tasks with which this one has at least two connections, for heartbeats and
/// for calls: servers with all others, those with the servers.
DISTRIBUTE_INLINE int partners(const JobTaskOptions& options) {
  int servers = 0;
  const ClusterTasks all = tasks_of_job(options);
  for (const ClusterMember& member : all.members) servers += member.type == "ps";
  return options.type == "ps" ? all.size() - servers : servers;
}

DISTRIBUTE_INLINE JobTask::Impl::Impl(JobTaskOptions options, net::Listener listener)
    : given(std::move(options)) {
  check_options(given.options);
  self = find(given.type, given.index);
  self.incarnation = value_or_throw(net::random_number());
  config = {.self = {self.type, self.index, self.incarnation},
            .job = given.service.empty() ? job_fingerprint(tasks_of_job(given)) : given.service,
            .token = given.options.job_token,
            .tls = make_tls(given.options, self.name())};
  base_internal::prepare_descriptors(self.name(), 10 + 2 * partners(given),
                                     64 + 16 * tasks_of_job(given).size());
  open(std::move(listener));
}

DISTRIBUTE_INLINE void JobTask::Impl::open(net::Listener listener) {
  if (!listener)
    listener = cluster_internal::open_own_port(self.name(), self.address, given.options);
  monitor = std::make_unique<PeerMonitor>(given.options);
  ClusterOptions own = given.options;  // all tasks may come at the same moment
  own.max_unauthenticated = std::max(own.max_unauthenticated, 2 * tasks_of_job(given).size());
  server = std::make_unique<TaskServer>(std::move(listener), config, std::move(own));
  server->serve(
      kHeartbeatPurpose,
      [this](TaskConnection connection) { accept_heartbeat(std::move(connection)); },
      [this](const net::HandshakeHello& hello) {
        return monitor->check_only_start(client_name(hello));
      });
  rpc = std::make_unique<RpcServer>(*server, *monitor, given.options.max_message_bytes);
  server->start();
  ready = std::make_unique<ReadyFile>(ready_file_path());
  if (given.announced)
    cluster_internal::announce_task(self.type, self.index, server->address().host);
}

/// The detail of a heartbeat's connection is the address that the other end listens on.
DISTRIBUTE_INLINE PeerName JobTask::Impl::client_name(const net::HandshakeHello& hello) const {
  const net::TaskIdentity& who = hello.client;
  PeerName name{who.type, who.index, "", who.incarnation, hello.detail};
  const auto& jobs = given.cluster.as_dict();
  if (const auto job = jobs.find(who.type); job != jobs.end()) {
    const auto task = job->second.by_index().find(who.index);
    if (task != job->second.by_index().end()) name.address = task->second;
  }
  return name;
}

DISTRIBUTE_INLINE void JobTask::Impl::accept_heartbeat(TaskConnection connection) {
  PeerName name = client_name(connection.hello);
  throw_if_error(monitor->check_only_start(name));  // two came at the same moment
  monitor->watch(std::make_shared<Peer>(std::move(name)), std::move(connection.socket), false);
}

DISTRIBUTE_INLINE PeerName JobTask::Impl::find(const std::string& type, int index) const {
  return {type, index, given.cluster.task_address(type, index), 0, ""};
}

DISTRIBUTE_INLINE absl::StatusOr<Dialed> JobTask::Impl::try_to_dial(const PeerName& to,
                                                                    const std::string& purpose,
                                                                    const std::string& detail,
                                                                    net::Deadline deadline) {
  const auto address = net::parse_address(to.address);
  if (!address.ok()) return address.status();
  auto socket = net::connect(*address, deadline);
  if (!socket.ok()) return socket.status();
  const auto remote = net::remote_address(socket->native());
  absl::Status status = remote.status();
  if (status.ok())
    status = net::check_exposure(*remote, config.authenticates(), given.options.insecure);
  if (!status.ok()) return status;
  net::HandshakeHello hello;
  hello.server_type = to.type;
  hello.server_index = to.index;
  hello.purpose = purpose;
  hello.detail = detail;
  const auto limit = net::Deadline::after_seconds(given.options.handshake_timeout);
  const auto incarnation = net::handshake(*socket, config, hello, deadline.earlier(limit));
  if (!incarnation.ok()) return incarnation.status();
  socket->set_peer(to.text());
  return Dialed{*std::move(socket), *incarnation};
}

/// Connects; `alive` is a Peer that must stay alive meanwhile, or null.
DISTRIBUTE_INLINE Dialed JobTask::Impl::dial(const PeerName& to, const std::string& purpose,
                                             const std::string& detail, net::Deadline deadline,
                                             const Peer* alive) {
  const auto interval = net::seconds(given.options.report_interval);
  auto next_report = net::Deadline::Clock::now() + interval;
  std::chrono::milliseconds pause{5};
  for (;;) {
    if (alive) alive->throw_if_lost();
    auto dialed = try_to_dial(to, purpose, detail, deadline);
    if (dialed.ok()) return *std::move(dialed);
    const std::string reason(dialed.status().message());
    if (!net::may_come(dialed.status())) throw_if_error(annotate(dialed.status(), to.text()));
    if (deadline.left() <= pause)
      throw DeadlineExceededError(str_cat(self.name(), " has waited in vain for ", to.text(),
                                          "; the last try said: ", reason));
    if (net::Deadline::Clock::now() >= next_report) {
      given.options.print(str_cat(self.name(), " is waiting for ", to.text(), ": ", reason));
      next_report += interval;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(250));
  }
}

DISTRIBUTE_INLINE JobTask::JobTask(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
  cluster_internal::note_place_read();
}
DISTRIBUTE_INLINE JobTask::~JobTask() = default;

DISTRIBUTE_INLINE std::shared_ptr<JobTask> JobTask::start(JobTaskOptions options) {
  auto& tasks = in_process<OpenTasks>();
  const std::lock_guard lock(tasks.mutex);
  std::weak_ptr<JobTask>& known = tasks.by_name[full_name(options)];
  if (std::shared_ptr<JobTask> task = known.lock()) return task;
  std::shared_ptr<JobTask> task = start(std::move(options), net::Listener());
  known = task;
  return task;
}

DISTRIBUTE_INLINE std::shared_ptr<JobTask> JobTask::start(JobTaskOptions options,
                                                          net::Listener listener) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(listener));
  return std::shared_ptr<JobTask>(new JobTask(std::move(impl)));
}

DISTRIBUTE_INLINE const ClusterSpec& JobTask::cluster() const { return impl_->given.cluster; }
DISTRIBUTE_INLINE const ClusterOptions& JobTask::options() const { return impl_->given.options; }
DISTRIBUTE_INLINE const PeerName& JobTask::self() const { return impl_->self; }
DISTRIBUTE_INLINE RpcServer& JobTask::rpc() { return *impl_->rpc; }
DISTRIBUTE_INLINE TaskServer& JobTask::server() { return *impl_->server; }
DISTRIBUTE_INLINE std::string JobTask::describe(const std::string& type, int index) const {
  return impl_->find(type, index).text();
}
DISTRIBUTE_INLINE void JobTask::say_goodbye(const std::string& why) {
  impl_->monitor->say_goodbye(why, net::Deadline::after_seconds(1));
}
DISTRIBUTE_INLINE void JobTask::announce_leave() { impl_->monitor->announce_leave(); }
DISTRIBUTE_INLINE std::shared_ptr<Peer> JobTask::client(const std::string& type, int index,
                                                        uint64_t incarnation) const {
  return impl_->monitor->client(type, index, incarnation);
}

DISTRIBUTE_INLINE std::shared_ptr<Peer> JobTask::peer(const std::string& type, int index,
                                                      net::Deadline deadline) {
  return peer(impl_->find(type, index), deadline);
}

DISTRIBUTE_INLINE std::shared_ptr<Peer> JobTask::peer(PeerName name, net::Deadline deadline) {
  std::shared_ptr<Impl::Known> known;
  {
    const std::lock_guard lock(impl_->mutex);
    auto& entry = impl_->known[name.text()];
    if (!entry) entry = std::make_shared<Impl::Known>();
    known = entry;
  }
  const std::lock_guard lock(known->mutex);
  if (known->peer && !known->peer->lost()) return known->peer;
  const std::string listens = impl_->server->address().text();
  Dialed dialed = impl_->dial(name, kHeartbeatPurpose, listens, deadline, nullptr);
  name.incarnation = dialed.incarnation;
  known->peer = std::make_shared<Peer>(std::move(name));
  impl_->monitor->watch(known->peer, std::move(dialed.socket), true);
  return known->peer;
}

DISTRIBUTE_INLINE net::Socket JobTask::dial(const Peer& peer, const std::string& purpose,
                                            const std::string& detail, net::Deadline deadline) {
  Dialed dialed = impl_->dial(peer.name(), purpose, detail, deadline, &peer);
  if (dialed.incarnation != peer.incarnation())
    throw LostTaskError(peer.name(), str_cat(peer.text(), " is lost: it has been started again"));
  return std::move(dialed.socket);
}

DISTRIBUTE_INLINE std::shared_ptr<RpcChannel> JobTask::connect(const std::string& type, int index,
                                                               net::Deadline deadline) {
  return connect(impl_->find(type, index), deadline);
}

DISTRIBUTE_INLINE std::shared_ptr<RpcChannel> JobTask::connect(const ClusterMember& member,
                                                               net::Deadline deadline) {
  return connect(PeerName{member.type, member.index, member.address, 0, ""}, deadline);
}

DISTRIBUTE_INLINE std::shared_ptr<RpcChannel> JobTask::connect(const PeerName& name,
                                                               net::Deadline deadline) {
  for (;;) {
    const auto to = peer(name, deadline);
    try {
      return std::make_shared<RpcChannel>(to, dial(*to, kRpcPurpose, "", deadline),
                                          impl_->given.options.max_message_bytes);
    } catch (const UnavailableError&) {  // it ended in between: perhaps it comes back
      to->lose("it has ended, or was started again");
      if (deadline.passed()) throw;
    }
  }
}

}  // namespace distribute::rpc
