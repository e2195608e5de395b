#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/data_service/detail/local_workers.hpp>
#include <distribute/data_service/detail/service_reader.hpp>
#include <distribute/io/compression.hpp>

#include <algorithm>
#include <chrono>

namespace distribute::data::service_internal {

inline constexpr int64_t kDefaultOutstanding = 16;
inline constexpr int64_t kMostAtOnce = 8;  // elements of one answer

DISTRIBUTE_INLINE ServiceReader::ServiceReader(std::shared_ptr<rpc::JobTask> task,
                                               const service::ReadOptions& options,
                                               OpenRequest request)
    : task_(std::move(task)),
      options_(options),
      request_(std::move(request)),
      capacity_(options.max_outstanding_requests < 0 ? kDefaultOutstanding
                                                     : options.max_outstanding_requests),
      calls_(task_, options.service, options.cluster.startup_timeout),
      last_calls_(task_, options.service, options.cluster.shutdown_timeout) {
  if (request_.local && !has_local_workers())
    throw InvalidArgumentError(
        "data service: target_workers = Local reads from workers of this process, which has none; "
        "make a data::service::WorkerServer first");
  const auto opened = calls_.call<OpenAnswer>("open", request_);
  iteration_ = opened.iteration;
  over_ = left_ = opened.over;
  if (!over_)
    thread_ = base_internal::start_thread("following a data service", [this] { follow(); });
}

DISTRIBUTE_INLINE ServiceReader::~ServiceReader() {
  calls_.stop();
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  leave(false);
}

/// Returns whether it reads the task, which may be one of a worker elsewhere.
DISTRIBUTE_INLINE bool ServiceReader::is_source(const TaskPlace& place) const {
  return !request_.local || is_local_worker(place.address);
}

DISTRIBUTE_INLINE bool ServiceReader::has_ended() const {
  bool some_ended = false;
  for (const TaskPlace& place : places_) {
    if (!is_source(place)) continue;
    const auto read = reads_.find(place.task);
    const bool ended = read != reads_.end() && read->second.ended;
    if (!ended && place.state != TaskState::Gone) return false;
    some_ended = some_ended || ended;
  }
  return some_ended;
}

/// The elements from which the next one comes.
DISTRIBUTE_INLINE std::deque<ServiceReader::Item>& ServiceReader::ready() {
  if (!in_step() || places_.empty()) return ready_;
  return reads_[round_ % int64_t(places_.size())].ready;
}

DISTRIBUTE_INLINE bool ServiceReader::next(Batch& out) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready().empty() || failure_ || over_ || has_ended(); });
  if (!ready().empty()) {
    auto item = std::move(ready().front());
    ready().pop_front();
    ++round_;
    changed_.notify_all();
    if (auto* error = std::get_if<std::exception_ptr>(&item)) std::rethrow_exception(*error);
    out = std::get<Batch>(std::move(item));
    return true;
  }
  if (failure_) std::rethrow_exception(failure_);
  if (!over_) {
    over_ = stopping_ = true;
    lock.unlock();
    calls_.stop();
    thread_.join();
    leave(true);
  }
  return false;
}

/// Says good-bye; a dispatcher that is away finds out by itself.
DISTRIBUTE_INLINE void ServiceReader::leave(bool finished) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  // Readers elsewhere have elements of their own workers, unless workers share the source.
  const bool over = !request_.local || request_.mode == ShardingPolicy::Dynamic;
  LeaveRequest request{iteration_, request_.consumer, finished && over, {}};
  for (auto& [task, read] : reads_) {
    stop_reading(lock, read);
    request.reports.push_back({task, read.generation, read.received});
  }
  if (std::exchange(left_, true)) return;
  lock.unlock();
  try {
    last_calls_.call<OpenAnswer>("leave", request);
  } catch (const Error&) {
  }
}

DISTRIBUTE_INLINE void ServiceReader::fail() {
  const std::lock_guard lock(mutex_);
  if (!stopping_ && !failure_) failure_ = std::current_exception();
  changed_.notify_all();
}

DISTRIBUTE_INLINE void ServiceReader::follow() {
  FollowRequest request{iteration_, request_.consumer, 0, {}};
  auto report = net::Deadline::after_seconds(options_.cluster.report_interval);
  try {
    for (;;) {
      const auto answer = calls_.call<FollowAnswer>("follow", request);
      request.version = answer.version;
      request.reports = move_to(answer.tasks);
      const auto placed = [this](const TaskPlace& place) {
        return place.state == TaskState::Running && is_source(place);
      };
      if (std::any_of(answer.tasks.begin(), answer.tasks.end(), placed))
        report = net::Deadline::after_seconds(options_.cluster.report_interval);
      if (!report.passed()) continue;
      options_.cluster.print(str_cat("the dataset \"", options_.dataset_id,
                                     "\" of the data service at ", options_.service,
                                     " is waiting for a worker"));
      report = net::Deadline::after_seconds(options_.cluster.report_interval);
    }
  } catch (const std::exception&) {  // also CancelledError, when the pass is over
    fail();
  }
}

/// Reads where the tasks are now. Returns what this consumer has of those whose worker is lost.
DISTRIBUTE_INLINE std::vector<TaskReport> ServiceReader::move_to(
    const std::vector<TaskPlace>& places) {
  std::vector<TaskReport> reports;
  std::unique_lock lock(mutex_);
  for (const TaskPlace& place : places) {
    if (stopping_) break;
    TaskRead& now = reads_[place.task];
    const bool running = place.state == TaskState::Running && is_source(place);
    if (!running || now.generation != place.generation) stop_reading(lock, now);
    if (now.generation != place.generation) now.requests = 0;
    now.generation = place.generation;
    if (place.state == TaskState::Collecting)
      reports.push_back({place.task, place.generation, now.received});
    if (!running || now.ended || now.thread.joinable() || stopping_) continue;
    now.stop = false;
    now.thread = base_internal::start_thread("reading from a data service",
                                             [this, place, &now] { read(place, now); });
  }
  places_ = places;
  changed_.notify_all();
  return reports;
}

DISTRIBUTE_INLINE void ServiceReader::stop_reading(std::unique_lock<std::mutex>& lock,
                                                   TaskRead& read) {
  if (!read.thread.joinable()) return;
  read.stop = true;
  if (read.channel) read.channel->close();
  changed_.notify_all();
  std::thread ending = std::move(read.thread);
  lock.unlock();
  ending.join();
  lock.lock();
  read.channel.reset();
}

DISTRIBUTE_INLINE void ServiceReader::pause(const TaskRead& read) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return read.stop || stopping_; });
}

DISTRIBUTE_INLINE void ServiceReader::read(const TaskPlace& place, TaskRead& read) {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (read.stop || read.ended || stopping_) return;
    }
    try {
      read_once(place, read);
    } catch (const DeadlineExceededError&) {  // the dispatcher decides whether the worker is lost
    } catch (const UnavailableError&) {
    } catch (const CancelledError&) {  // the worker is about to lose the task
      pause(read);
    } catch (const UnimplementedError&) {  // it is about to end
      pause(read);
    } catch (const std::exception&) {
      return fail();
    }
  }
}

DISTRIBUTE_INLINE void ServiceReader::read_once(const TaskPlace& place, TaskRead& read) {
  constexpr double kTry = 0.5;
  std::shared_ptr<rpc::RpcChannel> channel = read.channel;
  if (!channel || !channel->usable()) {
    channel = task_->connect(ClusterMember{kWorkerType, int(place.worker), place.address},
                             net::Deadline::after_seconds(kTry));
    const std::lock_guard lock(mutex_);
    if (read.stop) return;
    read.channel = channel;
  }
  int64_t most = 0;
  {
    std::unique_lock lock(mutex_);
    // In step each task has its part of the places, as the others wait for its turn.
    const auto space = [&]() -> int64_t {
      if (!in_step()) return capacity_ - int64_t(ready_.size()) - reserved_;
      return std::max<int64_t>(1, capacity_ / std::max<int64_t>(1, int64_t(places_.size()))) -
             int64_t(read.ready.size());
    };
    changed_.wait(lock, [&] { return read.stop || stopping_ || space() > 0; });
    if (read.stop || stopping_) return;
    most = in_step() ? 1 : std::min(space(), kMostAtOnce);
    reserved_ += most;
  }
  ElementsAnswer answer;
  try {
    ElementsRequest request{
        iteration_, place.task, place.generation, request_.consumer, read.requests + 1, most, -1};
    if (request_.cached) request.trainer = options_.cross_trainer_cache->trainer_id;
    request.zlib = options_.compression == io::Compression::Zlib;
    if (in_step()) request.element = read.rounds * request_.num_consumers + request_.consumer_index;
    std::string bytes =
        channel->call("elements", net::encode_message(request), net::Deadline::never());
    if (request.zlib) bytes = value_or_throw(io::decompress_zlib(bytes, "elements"));
    answer = value_or_throw(net::parse_message<ElementsAnswer>(bytes, "elements"));
  } catch (...) {
    const std::lock_guard lock(mutex_);
    reserved_ -= most;
    changed_.notify_all();
    throw;
  }
  ++read.requests;
  take(place, read, answer, most);
}

DISTRIBUTE_INLINE void ServiceReader::take(const TaskPlace& place, TaskRead& read,
                                           const ElementsAnswer& answer, int64_t reserved) {
  const std::lock_guard lock(mutex_);
  reserved_ -= reserved;
  ++read.rounds;
  auto& ready = ready_of(read);
  for (const NumberedElement& element : answer.elements) {
    const bool named = !element.names.empty();
    ready.push_back(Batch::from_components(
        element.components,
        named ? std::make_shared<const std::vector<std::string>>(element.names) : nullptr));
    read.received.add(element.number);
  }
  if (answer.code != StatusCode::Ok) {
    read.received.add(answer.error_number);
    try {
      throw_error(answer.code, str_cat(kWorkerType, " ", place.worker, " (", place.address,
                                       "): ", answer.error));
    } catch (const std::exception&) {
      ready.push_back(std::current_exception());
    }
  }
  read.ended = answer.ended;
  changed_.notify_all();
}

}  // namespace distribute::data::service_internal
