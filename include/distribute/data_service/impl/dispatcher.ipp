#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/data_service/detail/dispatcher.hpp>
#include <distribute/data_service/detail/pipelines.hpp>
#include <distribute/data_service/detail/service_task.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>

namespace distribute::data::service_internal {

inline constexpr std::chrono::milliseconds kLook{50};  // between looks for lost processes

DISTRIBUTE_INLINE bool is_static_policy(ShardingPolicy mode) {
  return mode != ShardingPolicy::Off && mode != ShardingPolicy::Dynamic;
}

DISTRIBUTE_INLINE const char* policy_name(ShardingPolicy mode) {
  static constexpr const char* kNames[] = {"Off", "Dynamic", "File", "Data", "FileOrData", "Hint"};
  return kNames[size_t(mode)];
}

DISTRIBUTE_INLINE Dispatcher::Dispatcher(const service::DispatcherConfig& config)
    : config_(config) {
  if (config.fault_tolerant_mode && config.work_dir.empty())
    throw InvalidArgumentError("fault_tolerant_mode needs a work_dir for the journal");
  if (config.fault_tolerant_mode) journal_.emplace(config.work_dir, state_);
  // Random numbers, so that those of a dispatcher without journal mean nothing after it.
  if (!state_.last_iteration) state_.last_iteration = value_or_throw(net::random_number()) >> 16;
  grace_until_ = Clock::now() + std::chrono::milliseconds(config.worker_timeout_ms);
  for (const auto& [number, worker] : state_.workers) present_[number] = nullptr;
  for (const auto& [id, iteration] : state_.iterations) readers_[id] = {};
  net::Listener listener = open_port(config.host, config.port, config.cluster);
  target_ = str_cat(config.host, ":", listener.address().port);
  task_ = start_task(kDispatcherType, 0, std::move(listener), config.cluster);
  serve("join", &Dispatcher::join);
  serve("orders", &Dispatcher::orders);
  serve("describe", &Dispatcher::describe);
  serve("open", &Dispatcher::open);
  serve("follow", &Dispatcher::follow);
  serve("leave", &Dispatcher::leave);
  serve("split", &Dispatcher::split);
  thread_ = base_internal::start_thread("the dispatcher's watch over workers", [this] { run(); });
}

DISTRIBUTE_INLINE Dispatcher::~Dispatcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
  task_.reset();  // ends the calls
}

template <typename Answer, typename Request>
void Dispatcher::serve(const char* name,
                       Answer (Dispatcher::*method)(const rpc::Call&, const Request&)) {
  task_->rpc().add(name, [this, method, name](const rpc::Call& call) {
    return net::encode_message(
        (this->*method)(call, value_or_throw(net::parse_message<Request>(call.body(), name))));
  });
}

DISTRIBUTE_INLINE int64_t Dispatcher::num_workers() const {
  const std::lock_guard lock(mutex_);
  return std::count_if(present_.begin(), present_.end(), [](const auto& at) { return at.second; });
}

DISTRIBUTE_INLINE void Dispatcher::commit(const JournalEntry& entry) {
  if (journal_) journal_->write(entry);
  state_.apply(entry);
  if (entry.kind == EntryKind::Split || entry.kind == EntryKind::Delivered) return;
  ++version_;
  changed_.notify_all();
}

DISTRIBUTE_INLINE void Dispatcher::wait_for_change(std::unique_lock<std::mutex>& lock,
                                                   uint64_t seen, const rpc::Call& call) {
  const auto until = Clock::now() + std::chrono::seconds(1);
  while (version_ == seen && !stopping_ && Clock::now() < until && !call.cancelled())
    changed_.wait_for(lock, kLook);
}

DISTRIBUTE_INLINE Iteration& Dispatcher::find(uint64_t iteration) {
  const auto found = state_.iterations.find(iteration);
  if (found == state_.iterations.end())
    throw NotFoundError(
        "the pass is over, or the dispatcher was started again without its journal "
        "(fault_tolerant_mode)");
  return found->second;
}

// ---- workers

DISTRIBUTE_INLINE JoinAnswer Dispatcher::join(const rpc::Call& call, const JoinRequest& request) {
  const std::lock_guard lock(mutex_);
  for (const DatasetFacts& facts : request.datasets) {
    const auto known = state_.datasets.find(facts.id);
    if (known != state_.datasets.end())
      check_same_dataset(known->second, "the dispatcher (from the first worker)", facts,
                         "the worker at " + request.address);
  }
  for (const DatasetFacts& facts : request.datasets)
    if (!state_.datasets.contains(facts.id)) commit({.kind = EntryKind::Dataset, .facts = {facts}});
  int64_t number = int64_t(state_.workers.size());
  for (const auto& [at, worker] : state_.workers)
    if (worker.address == request.address) number = at;
  const bool known = state_.workers.contains(number);
  const bool same_start = known && state_.workers[number].start == request.start;
  const bool stays = same_start && present_.contains(number);
  if (!stays && present_.contains(number)) lose_worker(number);
  if (!same_start)
    commit({.kind = EntryKind::Worker,
            .number = request.start,
            .worker = number,
            .name = request.address});
  present_[number] = call.shared_peer();
  for (const auto& [id, iteration] : state_.iterations) {
    if (iteration.finished || is_static_policy(iteration.mode)) continue;
    if (iteration.num_consumers && !iteration.tasks.empty()) continue;  // readers count its tasks
    const bool has_one =
        std::any_of(iteration.tasks.begin(), iteration.tasks.end(), [number](const Task& task) {
          return task.worker == number && task.state == TaskState::Running;
        });
    if (has_one) continue;
    add_task(id);
    put(id, int64_t(iteration.tasks.size()) - 1, number);
  }
  ++version_;
  changed_.notify_all();
  place_tasks();
  return {number};
}

DISTRIBUTE_INLINE OrdersAnswer Dispatcher::orders(const rpc::Call& call,
                                                  const OrdersRequest& request) {
  std::unique_lock lock(mutex_);
  wait_for_change(lock, request.version, call);
  OrdersAnswer answer{.version = version_};
  const auto present = present_.find(request.worker);
  answer.known = present != present_.end() && present->second &&
                 state_.workers[request.worker].start == request.start;
  if (!answer.known) return answer;
  for (const auto& [id, iteration] : state_.iterations)
    for (size_t i = 0; !is_over(id) && i < iteration.tasks.size(); ++i) {
      const Task& task = iteration.tasks[i];
      if (task.state != TaskState::Running || task.worker != request.worker) continue;
      answer.orders.push_back({id, int64_t(i), task.generation, iteration.dataset, iteration.mode,
                               iteration.pass, int64_t(i), int64_t(iteration.tasks.size()),
                               iteration.num_consumers, task.delivered});
    }
  return answer;
}

/// Whether all readers have gone from a pass that one of them has seen to its end.
DISTRIBUTE_INLINE bool Dispatcher::is_over(uint64_t iteration) {
  return state_.iterations.at(iteration).finished && !in_grace() &&
         readers_[iteration].by_number.empty();
}

DISTRIBUTE_INLINE SplitAnswer Dispatcher::split(const rpc::Call&, const SplitRequest& request) {
  const std::lock_guard lock(mutex_);
  Iteration& iteration = find(request.iteration);
  Task& task = iteration.tasks.at(size_t(request.task));
  if (task.generation != request.generation || task.state != TaskState::Running)
    throw CancelledError("another worker has taken the place of this one");
  const auto& given = task.splits[request.repetition];
  if (request.number < int64_t(given.size())) return given[size_t(request.number)];
  const DatasetFacts& facts = state_.datasets.at(iteration.dataset);
  const int64_t begin = iteration.next_item[request.repetition];
  if (begin >= facts.items) return {};
  const int64_t end = begin + std::min(facts.items_per_split, facts.items - begin);
  commit({.kind = EntryKind::Split,
          .iteration = request.iteration,
          .task = request.task,
          .repetition = request.repetition,
          .begin = begin,
          .end = end});
  return {begin, end};
}

DISTRIBUTE_INLINE void Dispatcher::add_task(uint64_t iteration) {
  const auto task = int64_t(state_.iterations.at(iteration).tasks.size());
  commit({.kind = EntryKind::Task, .iteration = iteration, .task = task});
}

DISTRIBUTE_INLINE void Dispatcher::put(uint64_t iteration, int64_t task, int64_t worker) {
  commit({.kind = EntryKind::State,
          .iteration = iteration,
          .task = task,
          .number = state_.iterations.at(iteration).tasks.at(size_t(task)).generation,
          .worker = worker,
          .state = TaskState::Running});
}

/// Off has no shares that others would lack; all else is made by another worker.
DISTRIBUTE_INLINE void Dispatcher::lose_worker(int64_t worker) {
  present_.erase(worker);
  for (const auto& [id, iteration] : state_.iterations)
    for (size_t i = 0; i < iteration.tasks.size(); ++i) {
      const Task& task = iteration.tasks[i];
      if (task.worker != worker || task.state != TaskState::Running) continue;
      const bool off = iteration.mode == ShardingPolicy::Off && !iteration.num_consumers;
      commit({.kind = EntryKind::State,
              .iteration = id,
              .task = int64_t(i),
              .number = task.generation + 1,
              .state = off ? TaskState::Gone : TaskState::Collecting});
    }
  config_.cluster.print(str_cat("the data service has lost data_worker ", worker, " (",
                                state_.workers[worker].address, ")"));
}

DISTRIBUTE_INLINE int64_t Dispatcher::worker_for(const Iteration& iteration, int64_t task) const {
  const auto& listed = config_.worker_addresses;
  const Task& wanted = iteration.tasks[size_t(task)];
  int64_t best = -1, fewest = INT64_MAX;
  for (const auto& [number, peer] : present_) {
    if (!peer) continue;
    const std::string& address = state_.workers.at(number).address;
    if (is_static_policy(iteration.mode) && size_t(task) < listed.size() && !wanted.generation) {
      const std::string& own = listed[size_t(task)];
      if (address != own && !address.starts_with(own + ":")) continue;
    }
    const int64_t load = std::count_if(
        iteration.tasks.begin(), iteration.tasks.end(), [&, at = number](const Task& other) {
          return other.worker == at && other.state == TaskState::Running;
        });
    if (load < fewest) best = number, fewest = load;
  }
  return best;
}

DISTRIBUTE_INLINE bool Dispatcher::all_have_reported(uint64_t iteration, int64_t task) {
  if (in_grace() && readers_[iteration].by_number.empty())
    return false;  // readers are about to come back
  const uint64_t generation = state_.iterations.at(iteration).tasks[size_t(task)].generation;
  for (const auto& [number, reader] : readers_[iteration].by_number) {
    const auto found = reader.reported.find(task);
    if (found == reader.reported.end() || found->second != generation) return false;
  }
  return true;
}

DISTRIBUTE_INLINE void Dispatcher::place_tasks() {
  for (const auto& [id, iteration] : state_.iterations)
    for (int64_t i = 0; i < int64_t(iteration.tasks.size()); ++i) {
      const TaskState state = iteration.tasks[size_t(i)].state;
      if (state != TaskState::Waiting &&
          (state != TaskState::Collecting || !all_have_reported(id, i)))
        continue;
      const int64_t worker = worker_for(iteration, i);
      if (worker >= 0) put(id, i, worker);
    }
}

// ---- consumers

DISTRIBUTE_INLINE DatasetFacts Dispatcher::describe(const rpc::Call& call,
                                                    const DescribeRequest& request) {
  std::unique_lock lock(mutex_);
  const auto until = net::Deadline::after_seconds(request.wait_seconds);
  while (!state_.datasets.contains(request.dataset)) {
    if (until.passed() || stopping_ || call.cancelled()) {
      std::string names;
      for (const auto& [name, facts] : state_.datasets) names += (names.empty() ? "" : ", ") + name;
      throw NotFoundError(str_cat("no worker has registered the dataset \"", request.dataset,
                                  "\"; registered: ", names.empty() ? "none" : names));
    }
    changed_.wait_for(lock, kLook);
  }
  return state_.datasets[request.dataset];
}

DISTRIBUTE_INLINE uint64_t Dispatcher::make_iteration(const OpenRequest& request) {
  const auto facts = state_.datasets.find(request.dataset);
  if (facts == state_.datasets.end())
    throw NotFoundError(str_cat("no worker has registered the dataset \"", request.dataset, "\""));
  if (request.mode == ShardingPolicy::Dynamic && !facts->second.not_dynamic.empty())
    throw FailedPreconditionError(str_cat("ShardingPolicy::Dynamic of \"", request.dataset,
                                          "\": ", facts->second.not_dynamic, "; use Off or Data"));
  const bool fixed = is_static_policy(request.mode);
  if (fixed && config_.worker_addresses.empty())
    throw FailedPreconditionError(str_cat("ShardingPolicy::", policy_name(request.mode),
                                          " needs DispatcherConfig::worker_addresses"));
  if (request.num_consumers && facts->second.cardinality != kInfiniteCardinality)
    throw FailedPreconditionError(str_cat("num_consumers needs a dataset without an end, but \"",
                                          request.dataset, "\" has ",
                                          facts->second.cardinality == kUnknownCardinality
                                              ? "an unknown number of"
                                              : std::to_string(facts->second.cardinality),
                                          " elements; call repeat() at its end"));
  const uint64_t id = state_.last_iteration + 1;
  commit({.kind = EntryKind::Iteration,
          .iteration = id,
          .number = request.pass,
          .mode = request.mode,
          .num_consumers = request.num_consumers,
          .name = request.job,
          .dataset = request.dataset});
  for (size_t i = 0; fixed && i < config_.worker_addresses.size(); ++i) add_task(id);
  if (!fixed)
    for (const auto& [number, peer] : present_) {
      if (!peer) continue;
      add_task(id);
      put(id, int64_t(state_.iterations.at(id).tasks.size()) - 1, number);
    }
  place_tasks();
  return id;
}

DISTRIBUTE_INLINE OpenAnswer Dispatcher::open(const rpc::Call& call, const OpenRequest& request) {
  const std::lock_guard lock(mutex_);
  uint64_t found = 0;
  for (const auto& [id, iteration] : state_.iterations) {
    if (iteration.job != request.job) continue;
    if (iteration.mode != request.mode || iteration.dataset != request.dataset)
      throw InvalidArgumentError(
          str_cat("the job \"", request.job, "\" has ShardingPolicy::", policy_name(iteration.mode),
                  " of \"", iteration.dataset, "\", not ", policy_name(request.mode), " of \"",
                  request.dataset, "\""));
    if (iteration.num_consumers != request.num_consumers)
      throw InvalidArgumentError(str_cat("the job \"", request.job, "\" has num_consumers = ",
                                         iteration.num_consumers, ", not ", request.num_consumers));
    if (iteration.pass == request.pass) found = id;
  }
  if (!found) found = make_iteration(request);
  if (is_over(found)) return {found, true};
  auto& readers = readers_[found].by_number;
  for (const auto& [number, reader] : readers)
    if (request.num_consumers && reader.index == request.consumer_index &&
        number != request.consumer && !reader.peer->lost())
      throw AlreadyExistsError(str_cat("the job \"", request.job, "\" has a reader with ",
                                       "consumer_index = ", reader.index, " already"));
  readers[request.consumer].peer = call.shared_peer();
  readers[request.consumer].index = request.num_consumers ? request.consumer_index : -1;
  ++version_;
  changed_.notify_all();
  return {found, false};
}

DISTRIBUTE_INLINE void Dispatcher::take_reports(uint64_t id,
                                                const std::vector<TaskReport>& reports) {
  for (const TaskReport& report : reports) {
    const Iteration& iteration = find(id);
    if (report.task < 0 || report.task >= int64_t(iteration.tasks.size()))
      throw InvalidArgumentError(str_cat("there is no task ", report.task));
    commit({.kind = EntryKind::Delivered,
            .iteration = id,
            .task = report.task,
            .delivered = report.received});
  }
}

DISTRIBUTE_INLINE FollowAnswer Dispatcher::follow(const rpc::Call& call,
                                                  const FollowRequest& request) {
  std::unique_lock lock(mutex_);
  find(request.iteration);
  Reader& reader = readers_[request.iteration].by_number[request.consumer];
  reader.peer = call.shared_peer();
  take_reports(request.iteration, request.reports);
  for (const TaskReport& report : request.reports) reader.reported[report.task] = report.generation;
  place_tasks();
  wait_for_change(lock, request.version, call);
  FollowAnswer answer{.version = version_};
  const Iteration& iteration = find(request.iteration);
  for (size_t i = 0; i < iteration.tasks.size(); ++i) {
    const Task& task = iteration.tasks[i];
    const bool placed = task.state == TaskState::Running;
    answer.tasks.push_back({int64_t(i), task.generation, task.state, placed ? task.worker : -1,
                            placed ? state_.workers[task.worker].address : ""});
  }
  return answer;
}

DISTRIBUTE_INLINE void Dispatcher::drop(uint64_t iteration) {
  readers_.erase(iteration);
  commit({.kind = EntryKind::End, .iteration = iteration, .state = TaskState::Gone});
}

/// A pass that a reader has seen to its end is kept, so that later readers of the job get nothing.
DISTRIBUTE_INLINE OpenAnswer Dispatcher::leave(const rpc::Call&, const LeaveRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto found = state_.iterations.find(request.iteration);
  if (found == state_.iterations.end()) return {};
  take_reports(request.iteration, request.reports);
  if (request.finished && !found->second.finished)
    commit({.kind = EntryKind::End, .iteration = request.iteration});
  Readers& readers = readers_[request.iteration];
  readers.by_number.erase(request.consumer);
  readers.empty_since = Clock::now();
  place_tasks();
  const bool shared = !found->second.job.starts_with('\n');
  if (readers.by_number.empty() && !(shared && found->second.finished)) drop(request.iteration);
  return {};
}

// ---- the dispatcher's own thread

DISTRIBUTE_INLINE bool Dispatcher::in_grace() const {
  return journal_ && Clock::now() < grace_until_;
}

DISTRIBUTE_INLINE void Dispatcher::look_for_lost() {
  const bool grace = in_grace();
  std::vector<int64_t> lost;
  for (const auto& [number, peer] : present_)
    if (peer ? peer->lost() : !grace) lost.push_back(number);
  for (const int64_t number : lost) lose_worker(number);
  std::vector<uint64_t> left;
  for (auto& [id, readers] : readers_) {
    const size_t before = readers.by_number.size();
    std::erase_if(readers.by_number, [](const auto& at) { return at.second.peer->lost(); });
    const bool empty = readers.by_number.empty();
    if (empty && before > 0) readers.empty_since = Clock::now();
    const auto away = Clock::now() - readers.empty_since;
    if (empty && !grace && !state_.iterations.at(id).finished &&
        away > std::chrono::milliseconds(config_.worker_timeout_ms))
      left.push_back(id);
  }
  for (const uint64_t id : left) drop(id);
}

DISTRIBUTE_INLINE void Dispatcher::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    look_for_lost();
    place_tasks();
    changed_.wait_for(lock, kLook);
  }
}

}  // namespace distribute::data::service_internal

namespace distribute::data::service {

struct DispatchServer::Impl {
  explicit Impl(const DispatcherConfig& config) : dispatcher(config) {}
  service_internal::Dispatcher dispatcher;
};

DISTRIBUTE_INLINE DispatchServer::DispatchServer(const DispatcherConfig& config)
    : impl_(std::make_unique<Impl>(config)) {}
DISTRIBUTE_INLINE DispatchServer::~DispatchServer() = default;
DISTRIBUTE_INLINE std::string DispatchServer::target() const { return impl_->dispatcher.target(); }
DISTRIBUTE_INLINE int64_t DispatchServer::num_workers() const {
  return impl_->dispatcher.num_workers();
}

}  // namespace distribute::data::service
