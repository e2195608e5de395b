#pragma once
#include <distribute/base/detail/descriptors.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/engine_transport.hpp>
#include <distribute/collective/detail/flight_report.hpp>
#include <distribute/collective/detail/group_links.hpp>
#include <distribute/collective/detail/hierarchical_transport.hpp>
#include <distribute/collective/detail/host_layout.hpp>
#include <distribute/collective/detail/job_timelines.hpp>
#include <distribute/collective/detail/late_watch.hpp>
#include <distribute/collective/detail/nccl_tasks.hpp>
#include <distribute/collective/detail/shared_window.hpp>
#include <distribute/collective/detail/spin_time.hpp>
#include <distribute/collective/detail/tcp_transport.hpp>
#include <distribute/collective/detail/window_transport.hpp>
#include <distribute/collective/detail/worker_engine.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/net/socket.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>

namespace distribute::collective {

DISTRIBUTE_INLINE WantedTransport wanted_transport() {
  constexpr WantedTransport kInOrder[] = {WantedTransport::Auto,  WantedTransport::Tcp,
                                          WantedTransport::Mpi,   WantedTransport::OpenMpi,
                                          WantedTransport::Mpich, WantedTransport::Ucx};
  const auto place = Environment().choice("DISTRIBUTE_TRANSPORT",
                                          {"auto", "tcp", "mpi", "openmpi", "mpich", "ucx"});
  return kInOrder[place.value_or(0)];
}

DISTRIBUTE_INLINE const char* name_of(WantedTransport transport) {
  switch (transport) {
    case WantedTransport::Auto: return "auto";
    case WantedTransport::Tcp: return "tcp";
    case WantedTransport::Mpi: return "mpi";
    case WantedTransport::OpenMpi: return "openmpi";
    case WantedTransport::Mpich: return "mpich";
    case WantedTransport::Ucx: break;
  }
  return "ucx";
}

/// Combines the requests of the environment and the program.
DISTRIBUTE_INLINE WantedTransport wanted_transport(const CommunicationOptions& options) {
  const WantedTransport outside = wanted_transport();
  const bool mpi = options.implementation == CommunicationImplementation::Mpi;
  if (!mpi && options.implementation != CommunicationImplementation::Ucx) return outside;
  const WantedTransport inside = mpi ? WantedTransport::Mpi : WantedTransport::Ucx;
  const bool is_mpi = outside == WantedTransport::OpenMpi || outside == WantedTransport::Mpich;
  if (outside == WantedTransport::Auto || outside == inside) return inside;
  if (mpi && is_mpi) return outside;
  throw InvalidArgumentError(str_cat("DISTRIBUTE_TRANSPORT is ", name_of(outside),
                                     ", and the program's CommunicationOptions::implementation is ",
                                     mpi ? "Mpi" : "Ucx", "; leave out one of them"));
}

/// Builds the group of one worker.
class WorkerConnector {
 public:
  WorkerConnector(std::shared_ptr<ClusterRuntime> runtime, int replicas_per_worker,
                  const CommunicationOptions& options, std::span<const Device> gpus)
      : runtime_(std::move(runtime)),
        replicas_(replicas_per_worker),
        options_(options),
        gpus_(gpus) {}
  WorkerGroup connect();

 private:
  void agree() const;
  void open_timeline();
  std::vector<std::unique_ptr<Transport>> transports(const std::string& name, int per_worker);
  std::vector<std::unique_ptr<Transport>> mpi_transports(int per_worker) const;
  std::vector<std::unique_ptr<Transport>> ucx_transports(const std::string& name, int per_worker);
  std::vector<int> hosts_of_ranks(int per_worker) const;
  std::shared_ptr<Window> host_window(const std::string& name, int per_worker) const;
  TcpMesh mesh(GroupPlace place);
  net::Socket local_link(int rank, int peer);
  std::shared_ptr<Communicator> communicator(std::unique_ptr<Transport> transport,
                                             const std::string& name);
  void connect_gpus(WorkerGroup& group);
  void follow(WorkerGroup& group) const;
  double timeout() const {
    return options_.timeout_seconds.value_or(runtime_->options().operation_timeout);
  }

  std::shared_ptr<ClusterRuntime> runtime_;
  const int replicas_;
  const CommunicationOptions options_;
  const std::span<const Device> gpus_;
  const WantedTransport wanted_ = wanted_transport(options_);
  const Engine* engine_ = nullptr;                          // null: none is wanted
  std::map<std::pair<int, int>, net::Socket> local_pairs_;  // within this process
  std::shared_ptr<std::atomic<bool>> explained_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<Timeline> timeline_;
  std::vector<std::string> recording_;  // of each task: whether it has a timeline
};

DISTRIBUTE_INLINE void WorkerConnector::agree() const {
  const std::string text =
      str_cat("{\"replicas per worker\": ", replicas_,
              ", \"replicas are on GPUs\": ", gpus_.empty() ? "false" : "true",
              ", \"bytes_per_pack\": ", options_.bytes_per_pack,
              ", \"implementation\": ", int(options_.implementation),
              ", \"bfloat16_gradients\": ", options_.bfloat16_gradients ? "true" : "false",
              ", \"DISTRIBUTE_TRANSPORT\": \"", name_of(wanted_), "\"}");
  runtime_->agree("the options of the strategy", text);
}

DISTRIBUTE_INLINE std::vector<int> WorkerConnector::hosts_of_ranks(int per_worker) const {
  std::vector<int> result;
  for (int host : runtime_->hosts()) result.insert(result.end(), size_t(per_worker), host);
  return result;
}

/// Returns memory that this host's ranks share; null on all tasks if it would not be used.
DISTRIBUTE_INLINE std::shared_ptr<Window> WorkerConnector::host_window(const std::string& name,
                                                                       int per_worker) const {
  const HostLayout ranks(hosts_of_ranks(per_worker)), tasks(runtime_->hosts());
  const bool useful = ranks.hosts() == 1 || (ranks.is_contiguous() && ranks.most_members() > 1);
  if (!useful || wanted_ == WantedTransport::Tcp) return nullptr;
  std::string reason;
  auto window = share_window(*runtime_, name, tasks.members(tasks.host_of(runtime_->rank())),
                             per_worker, reason);
  if (!window)
    runtime_->options().print("no shared memory between the workers, TCP is used: " + reason);
  return window;
}

/// Returns one end of a pair of sockets; the call for the other rank returns the other end.
DISTRIBUTE_INLINE net::Socket WorkerConnector::local_link(int rank, int peer) {
  const auto pair = std::minmax(rank, peer);
  if (auto waiting = local_pairs_.extract(pair)) return std::move(waiting.mapped());
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    throw ResourceExhaustedError(str_cat("no socket pair for two replicas of this worker: ",
                                         base_internal::system_error_text(errno)));
  local_pairs_.emplace(pair, net::Socket(ends[1], str_cat("replica ", rank)));
  return net::Socket(ends[0], str_cat("replica ", peer));
}

/// The first peers of other tasks, and all ranks of this task, are connected at once.
DISTRIBUTE_INLINE TcpMesh WorkerConnector::mesh(GroupPlace place) {
  const int ranks = int(place.tasks.size());
  TcpMesh mesh{.rank = place.rank, .flows = {}, .links = nullptr};
  mesh.flows.resize(size_t(ranks));
  for (int peer = 0; peer < ranks; ++peer)
    if (peer != place.rank && place.tasks[size_t(peer)] == runtime_->rank())
      mesh.flows[size_t(peer)].push_back(local_link(place.rank, peer));
  for (const int peer : first_peers(place.rank, ranks))
    if (place.tasks[size_t(peer)] != runtime_->rank())
      mesh.flows[size_t(peer)].push_back(first_link(*runtime_, place, peer));
  if (runtime_->size() > 1) mesh.links = std::make_unique<GroupLinks>(runtime_, std::move(place));
  return mesh;
}

/// MPI connects processes only, and has its own numbers for them.
DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> WorkerConnector::mpi_transports(
    int per_worker) const {
  if (per_worker > 1)
    throw InvalidArgumentError(str_cat(
        "DISTRIBUTE_TRANSPORT=mpi carries one replica per process, this worker has ", per_worker,
        "; start that many times more processes (mpirun -np) with one replica each"));
  const HostLayout hosts(runtime_->hosts());
  std::vector<std::unique_ptr<Transport>> result;
  result.push_back(make_mpi_transport(
      *engine_, {.rank_order = config::experimental::is_op_determinism_enabled(),
                 .ranks_on_host = int(hosts.members(hosts.host_of(runtime_->rank())).size())}));
  const Transport& mpi = *result[0];
  if (mpi.rank() != runtime_->rank() || mpi.size() != runtime_->size())
    throw FailedPreconditionError(str_cat(
        "DISTRIBUTE_TRANSPORT=mpi: to MPI (", engine_->text(), ") this process is rank ",
        mpi.rank(), " of ", mpi.size(), ", in the cluster worker ", runtime_->rank(), " of ",
        runtime_->size(), "; start the job with the mpirun of this MPI, and without TF_CONFIG"));
  return result;
}

/// Makes transports between all ranks, with shared memory on hosts that hold several replicas.
DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> WorkerConnector::ucx_transports(
    const std::string& name, int per_worker) {
  const std::vector<int> hosts = hosts_of_ranks(per_worker);
  const auto window =
      HostLayout(hosts).hosts() > 1 ? host_window(name, per_worker) : std::shared_ptr<Window>();
  std::vector<std::unique_ptr<Transport>> result;
  for (auto& messages : connect_engine(*runtime_, *engine_, name, per_worker)) {
    if (window)
      result.push_back(std::make_unique<HierarchicalTransport>(
          std::move(messages), hosts, window, TcpOptions{.segment_bytes = kEngineSegmentBytes}));
    else
      result.push_back(std::make_unique<EngineTransport>(std::move(messages)));
  }
  return result;
}

DISTRIBUTE_INLINE std::vector<std::unique_ptr<Transport>> WorkerConnector::transports(
    const std::string& name, int per_worker) {
  if (engine_ && engine_->kind == EngineKind::Ucx) return ucx_transports(name, per_worker);
  if (engine_) return mpi_transports(per_worker);
  const auto window = host_window(name, per_worker);
  const std::vector<int> hosts = hosts_of_ranks(per_worker);
  const bool one_host = HostLayout(hosts).hosts() == 1;
  local_pairs_.clear();
  std::vector<int> tasks;
  for (int task = 0; task < runtime_->size(); ++task)
    tasks.insert(tasks.end(), size_t(per_worker), task);
  if (!window || !one_host) prepare_links(*runtime_, per_worker, int(tasks.size()));
  const int number = runtime_->next_number(name);
  const auto here =
      std::count(hosts.begin(), hosts.end(), runtime_->hosts()[size_t(runtime_->rank())]);
  const TcpOptions tcp{.spin_seconds = useful_spin(int(here))};
  std::vector<std::unique_ptr<Transport>> result;
  for (int i = 0; i < per_worker; ++i) {
    const int rank = runtime_->rank() * per_worker + i;
    if (window && one_host) {
      result.push_back(std::make_unique<WindowTransport>(window, rank, "shm"));
      continue;
    }
    TcpMesh mine = mesh({.name = name, .number = number, .rank = rank, .tasks = tasks});
    if (window)
      result.push_back(std::make_unique<HierarchicalTransport>(
          std::make_unique<TcpMessages>(rank, std::move(mine.flows), tcp.spin_seconds,
                                        std::move(mine.links)),
          hosts, window, tcp));
    else
      result.push_back(std::make_unique<TcpTransport>(std::move(mine), tcp));
  }
  return result;
}

/// Replaces the error by the runtime's, as every worker may see another consequence of the first
/// failure.
DISTRIBUTE_INLINE void explain_failure(ClusterRuntime& runtime, std::atomic<bool>& explained,
                                       const Error& error, const FlightRecorder& recorder) {
  const auto* left = dynamic_cast<const RankLeftError*>(&error);
  const bool peer_is_gone = error.code() == StatusCode::Unavailable;
  if (left)
    runtime.report_waiting(left->operation());
  else if (!peer_is_gone || !runtime.wait_lost(net::Deadline::after_seconds(2)))
    runtime.report_error(error.code(), error.what());
  if (!explained.exchange(true))
    log_report(LogSeverity::Error, "collective", flight_report(runtime, error.what(), recorder));
  runtime.throw_if_lost();
}

DISTRIBUTE_INLINE std::shared_ptr<Communicator> WorkerConnector::communicator(
    std::unique_ptr<Transport> transport, const std::string& name) {
  CommunicatorOptions options;
  options.timeline = timeline_;
  options.timeline_row = engine_ ? str_cat(name, " over ", transport->name()) : name;
  options.timeout_seconds = timeout();
  options.on_failure = [runtime = runtime_, explained = explained_](
                           const Error& error, const FlightRecorder& recorder) {
    explain_failure(*runtime, *explained, error, recorder);
  };
  return std::make_shared<Communicator>(std::move(transport), options);
}

DISTRIBUTE_INLINE void WorkerConnector::connect_gpus(WorkerGroup& group) {
  if (gpus_.empty() || options_.implementation == CommunicationImplementation::Ring) return;
  if (const std::string problem = nccl_group_problem(*runtime_, gpus_); !problem.empty()) {
    if (options_.implementation == CommunicationImplementation::Nccl)
      throw FailedPreconditionError("CommunicationImplementation::Nccl: " + problem);
    return log_info("collective", "the GPUs' gradients are summed in host memory: " + problem);
  }
  const auto deadline = net::Deadline::after_seconds(timeout());
  for (auto& transport : make_nccl_transports(runtime_, gpus_, "replicas", deadline))
    group.gpus.push_back(communicator(std::move(transport), str_cat("GPU ", group.gpus.size())));
}

/// Ties the group's life to the job's.
DISTRIBUTE_INLINE void WorkerConnector::follow(WorkerGroup& group) const {
  const int on_lost =
      runtime_->on_lost([runtime = runtime_.get(), ends = group](int, const auto& reason) {
        const auto failure = runtime->lost();
        ends.abort(failure ? failure->code : StatusCode::Unavailable, reason);
      });
  const int on_left = runtime_->on_left(
      [ends = group](int worker, const auto& reason) { ends.depart(worker, reason); });
  const auto watch = std::make_shared<LateWatch>(*runtime_, group, timeout());
  runtime_->set_progress([watch] { return watch->look(); });
  group.watch = [watch](const std::string& name, const auto& members_group,
                        const std::vector<int>& members) {
    watch->add(name, members_group, members);
  };
  group.report_error = [runtime = runtime_](StatusCode code, const std::string& message) {
    runtime->report_error(code, message);
  };
  group.all_say = [runtime = runtime_](const std::string& text) {
    try {
      const auto all = runtime->all_gather("all say", text, net::Deadline::after_seconds(5));
      return std::all_of(all.begin(), all.end(), [&](const auto& said) { return said == text; });
    } catch (const Error&) {  // some do not come, or the job has failed
      return false;
    }
  };
  group.leave = [runtime = runtime_, on_lost, on_left, timeline = timeline_,
                 recording = recording_] {
    runtime->remove_on_lost(on_lost);
    runtime->remove_on_lost(on_left);
    runtime->set_progress({});
    if (timeline) save_timelines(*runtime, *timeline, recording);
    runtime->leave();
  };
}

/// All tasks throw when worker 0, which writes the file, cannot do so.
DISTRIBUTE_INLINE void WorkerConnector::open_timeline() {
  timeline_ = Timeline::from_environment(runtime_->size());
  std::string told = timeline_ ? "1" : "";
  try {
    if (timeline_ && runtime_->rank() == 0) timeline_->check_path();
  } catch (const Error& error) {
    told = str_cat("!", error.what());
  }
  recording_ = runtime_->all_gather("timeline", told);
  if (recording_[0].starts_with('!'))
    throw InvalidArgumentError(str_cat(runtime_->describe(0), ": ", recording_[0].substr(1)));
}

DISTRIBUTE_INLINE WorkerGroup WorkerConnector::connect() {
  agree();
  engine_ = agree_on_engine(*runtime_, wanted_);
  open_timeline();
  WorkerGroup group;
  group.timeline = timeline_;
  group.worker = runtime_->rank();
  group.num_workers = runtime_->size();
  group.replicas_per_worker = replicas_;
  for (int task = 0; task < runtime_->size(); ++task)
    group.names.push_back(runtime_->member(task).text());
  for (auto& transport : transports("replicas", replicas_))
    group.replicas.push_back(
        communicator(std::move(transport), str_cat("replica ", group.replicas.size())));
  group.workers = replicas_ == 1
                      ? group.replicas[0]
                      : communicator(std::move(transports("workers", 1)[0]), "between workers");
  connect_gpus(group);
  follow(group);
  return group;
}

DISTRIBUTE_INLINE WorkerGroup connect_workers(const std::shared_ptr<ClusterRuntime>& runtime,
                                              int replicas_per_worker,
                                              const CommunicationOptions& options,
                                              std::span<const Device> gpus) {
  options.check();
  return WorkerConnector(runtime, replicas_per_worker, options, gpus).connect();
}

}  // namespace distribute::collective
