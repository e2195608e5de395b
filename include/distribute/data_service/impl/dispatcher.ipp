#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/data_service/detail/dispatcher.hpp>
#include <distribute/data_service/detail/pipelines.hpp>
#include <distribute/data_service/detail/service_metrics.hpp>
#include <distribute/data_service/detail/service_task.hpp>
#include <distribute/net/job_token.hpp>

#include <algorithm>

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE bool is_static_policy(ShardingPolicy mode) {
  return mode != ShardingPolicy::Off && mode != ShardingPolicy::Dynamic;
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
  for (const auto& [id, iteration] : state_.iterations)
    if (is_save(iteration) && !iteration.finished) adopt_chunks(id);
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
  serve("save", &Dispatcher::save);
  serve("chunk", &Dispatcher::chunk);
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
  return num_present();
}

DISTRIBUTE_INLINE int64_t Dispatcher::num_present() const {
  return std::count_if(present_.begin(), present_.end(), [](const auto& at) { return at.second; });
}

DISTRIBUTE_INLINE void Dispatcher::commit(const JournalEntry& entry) {
  if (journal_) journal_->write(entry);
  state_.apply(entry);
  if (entry.kind == EntryKind::Split || entry.kind == EntryKind::Delivered ||
      entry.kind == EntryKind::Chunk)
    return;
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
    const Iteration& iteration = state_.iterations.at(id);
    if (empty && !grace && !iteration.finished && !is_save(iteration) &&
        away > std::chrono::milliseconds(config_.worker_timeout_ms))
      left.push_back(id);
  }
  for (const uint64_t id : left) drop(id);
  size_t clients = 0;
  for (const auto& [id, readers] : readers_) clients += readers.by_number.size();
  dispatcher_metrics().clients.set(int64_t(clients));
  dispatcher_metrics().workers.set(num_present());
}

DISTRIBUTE_INLINE void Dispatcher::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    look_for_lost();
    place_tasks();
    finish_saves();
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
