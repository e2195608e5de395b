#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/detail/collective_metrics.hpp>
#include <distribute/collective/timeline.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace distribute::collective {

struct Work::State {
  Operation operation;
  uint64_t record = 0;
  std::mutex mutex;  // guards done and error
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;

  void finish(std::exception_ptr why) {
    const std::lock_guard lock(mutex);
    error = std::move(why);
    done = true;
    changed.notify_all();
  }
};

DISTRIBUTE_INLINE bool Work::done() const {
  if (!state_) return true;
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

DISTRIBUTE_INLINE void Work::wait() const {
  if (!state_) return;
  std::unique_lock lock(state_->mutex);
  std::optional<monitoring::Waiting> waiting;
  if (!state_->done) waiting.emplace(collective_metrics().wait);
  state_->changed.wait(lock, [&] { return state_->done; });  // execute() has a deadline
  if (state_->error) std::rethrow_exception(state_->error);
}

DISTRIBUTE_INLINE Communicator::Communicator(std::unique_ptr<Transport> transport,
                                             CommunicatorOptions options)
    : transport_(std::move(transport)), options_(std::move(options)) {
  if (options_.timeline) timeline_row_ = options_.timeline->add_row(options_.timeline_row);
}

DISTRIBUTE_INLINE Communicator::~Communicator() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

DISTRIBUTE_INLINE std::optional<uint64_t> Communicator::operations() const {
  const std::lock_guard lock(mutex_);
  if (error_) return std::nullopt;
  return sequence_;
}

DISTRIBUTE_INLINE void Communicator::abort(StatusCode code, const std::string& message) {
  transport_->abort(code, message);
}

DISTRIBUTE_INLINE void check_operation(const Operation& operation, int rank, int size) {
  const auto refuse = [&](const auto&... words) {
    throw InvalidArgumentError(str_cat(name_of(operation.kind), ": ", words...));
  };
  if (operation.count < 0) refuse("the count is ", operation.count);
  if (operation.peer < 0 || operation.peer >= size)
    refuse("there is no rank ", operation.peer, " in a group of ", size);
  const bool point_to_point =
      operation.kind == Collective::Send || operation.kind == Collective::Receive;
  if (point_to_point && operation.peer == rank) refuse("rank ", rank, " is this rank");
  const bool parts = operation.kind == Collective::ReduceScatter ||
                     operation.kind == Collective::AllGather ||
                     operation.kind == Collective::Gather;
  if (parts && int(operation.counts.size()) != size)
    refuse("one count for each of ", size, " ranks is wanted, ", operation.counts.size(), " came");
  if (std::any_of(operation.counts.begin(), operation.counts.end(), [](auto c) { return c < 0; }))
    refuse("a count is negative");
  if (operation.op == ReductionOp::Mean && operation.dtype == DType::Bool)
    refuse("the mean of bool is not defined");
}

/// Numbers and checks an operation; mutex_ must be held.
DISTRIBUTE_INLINE Operation Communicator::prepare(Operation operation) {
  if (error_) std::rethrow_exception(error_);
  autograd_internal::refuse_in_recording("replicas exchange values");
  check_operation(operation, rank(), size());
  const bool group = operation.kind != Collective::Send && operation.kind != Collective::Receive;
  if (group) operation.sequence = ++sequence_;
  return operation;
}

/// Runs an operation on the calling thread, after all operations queued before.
DISTRIBUTE_INLINE void Communicator::run(Operation operation) {
  const monitoring::Waiting waiting(collective_metrics().wait);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !busy_ && queue_.empty(); });
  operation = prepare(operation);
  const uint64_t record = recorder_.queue(operation);
  busy_ = true;
  lock.unlock();
  std::exception_ptr error;
  try {
    execute(operation, record);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  busy_ = false;
  if (error && !error_) error_ = error;
  changed_.notify_all();
  lock.unlock();
  if (error) std::rethrow_exception(error);
}

DISTRIBUTE_INLINE void Communicator::end(uint64_t record, bool failed) {
  recorder_.end(record, failed);
  if (!options_.timeline) return;
  if (const auto ended = recorder_.record(record)) options_.timeline->add(timeline_row_, *ended);
}

DISTRIBUTE_INLINE void Communicator::execute(Operation operation, uint64_t record) {
  recorder_.start(record);
  operation.deadline = net::Deadline::after_seconds(options_.timeout_seconds);
  const monitoring::Stopwatch watch;
  try {
    transport_->execute(operation);
  } catch (const Error& error) {
    collective_metrics().failures.increment_by();
    end(record, true);
    if (options_.on_failure) options_.on_failure(error, recorder_);
    throw;
  } catch (...) {
    end(record, true);
    throw;
  }
  end(record, false);
  count(operation, watch.nanoseconds());
}

DISTRIBUTE_INLINE void Communicator::count(const Operation& operation, int64_t nanoseconds) {
  CollectiveCells& cells = cells_[size_t(operation.kind)];
  if (!cells.calls) cells = collective_metrics().of(name_of(operation.kind), transport_->name());
  cells.calls->increment_by();
  cells.time->increment_by(nanoseconds);
  cells.bytes->increment_by(bytes_of(operation));
  if (!cells.sent) return;
  const Traffic traffic = traffic_of(operation, rank(), size());
  cells.sent->increment_by(traffic.sent);
  cells.received->increment_by(traffic.received);
}

/// Queues an operation for the thread of asynchronous operations.
DISTRIBUTE_INLINE Work Communicator::start(const Operation& operation) {
  auto state = std::make_shared<Work::State>();
  const std::lock_guard lock(mutex_);
  state->operation = prepare(operation);
  transport_->announce(state->operation);
  state->record = recorder_.queue(state->operation);
  queue_.push_back(state);
  collective_metrics().queued.add(1);
  if (!thread_.joinable())
    thread_ = base_internal::start_thread("collectives in the background", [this] { work_off(); });
  changed_.notify_all();
  Work work;
  work.state_ = std::move(state);
  return work;
}

DISTRIBUTE_INLINE Work Communicator::all_reduce_async(const void* input, void* output,
                                                      int64_t count, DType dtype, ReductionOp op) {
  return start({.kind = Collective::AllReduce,
                .op = op,
                .dtype = dtype,
                .count = count,
                .input = input,
                .output = output});
}

DISTRIBUTE_INLINE Work Communicator::reduce_scatter_async(const void* input, void* output,
                                                          std::span<const int64_t> counts,
                                                          DType dtype, ReductionOp op) {
  return start({.kind = Collective::ReduceScatter,
                .op = op,
                .dtype = dtype,
                .counts = counts,
                .input = input,
                .output = output});
}

DISTRIBUTE_INLINE Work Communicator::all_gather_async(const void* input, void* output,
                                                      std::span<const int64_t> counts,
                                                      DType dtype) {
  return start({.kind = Collective::AllGather,
                .dtype = dtype,
                .counts = counts,
                .input = input,
                .output = output});
}

DISTRIBUTE_INLINE void Communicator::record_all_reduce(
    const void* input, void* output, int64_t count, DType dtype, ReductionOp op,
    const std::shared_ptr<CudaGraphLife>& graph) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !busy_ && queue_.empty(); });
  if (error_) std::rethrow_exception(error_);
  Operation operation{.kind = Collective::AllReduce,
                      .op = op,
                      .dtype = dtype,
                      .count = count,
                      .input = input,
                      .output = output};
  check_operation(operation, rank(), size());
  operation.deadline = net::Deadline::after_seconds(options_.timeout_seconds);
  transport_->record(operation, graph);
}

/// The function of the thread for asynchronous operations, which completes queued operations.
DISTRIBUTE_INLINE void Communicator::work_off() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return (!busy_ && !queue_.empty()) || (stop_ && queue_.empty()); });
    if (queue_.empty()) return;
    const std::shared_ptr<Work::State> work = queue_.front();
    busy_ = true;
    std::exception_ptr error = error_;
    lock.unlock();
    try {
      if (!error) execute(work->operation, work->record);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    queue_.pop_front();
    collective_metrics().queued.add(-1);
    if (error && !error_) error_ = error;
    changed_.notify_all();
    work->finish(error);
  }
}

DISTRIBUTE_INLINE void Communicator::all_reduce(void* data, int64_t count, DType dtype,
                                                ReductionOp op) {
  all_reduce(data, data, count, dtype, op);
}

DISTRIBUTE_INLINE void Communicator::all_reduce(const void* input, void* output, int64_t count,
                                                DType dtype, ReductionOp op) {
  run({.kind = Collective::AllReduce,
       .op = op,
       .dtype = dtype,
       .count = count,
       .input = input,
       .output = output});
}

DISTRIBUTE_INLINE void Communicator::reduce(void* data, int64_t count, DType dtype, ReductionOp op,
                                            int root) {
  run({.kind = Collective::Reduce,
       .op = op,
       .dtype = dtype,
       .count = count,
       .peer = root,
       .input = data,
       .output = rank() == root ? data : nullptr});
}

DISTRIBUTE_INLINE void Communicator::reduce_scatter(const void* input, void* output,
                                                    std::span<const int64_t> counts, DType dtype,
                                                    ReductionOp op) {
  run({.kind = Collective::ReduceScatter,
       .op = op,
       .dtype = dtype,
       .counts = counts,
       .input = input,
       .output = output});
}

DISTRIBUTE_INLINE void Communicator::all_gather(const void* input, void* output,
                                                std::span<const int64_t> counts, DType dtype) {
  run({.kind = Collective::AllGather,
       .dtype = dtype,
       .counts = counts,
       .input = input,
       .output = output});
}

DISTRIBUTE_INLINE void Communicator::gather(const void* input, void* output,
                                            std::span<const int64_t> counts, DType dtype,
                                            int root) {
  run({.kind = Collective::Gather,
       .dtype = dtype,
       .counts = counts,
       .peer = root,
       .input = input,
       .output = rank() == root ? output : nullptr});
}

DISTRIBUTE_INLINE void Communicator::broadcast(void* data, int64_t count, DType dtype, int root) {
  run({.kind = Collective::Broadcast,
       .dtype = dtype,
       .count = count,
       .peer = root,
       .input = data,
       .output = data});
}

DISTRIBUTE_INLINE void Communicator::all_to_all(const void* input, void* output, int64_t count,
                                                DType dtype) {
  run({.kind = Collective::AllToAll,
       .dtype = dtype,
       .count = count,
       .input = input,
       .output = output});
}

DISTRIBUTE_INLINE void Communicator::send(const void* data, int64_t count, DType dtype, int to) {
  run({.kind = Collective::Send, .dtype = dtype, .count = count, .peer = to, .input = data});
}

DISTRIBUTE_INLINE void Communicator::receive(void* data, int64_t count, DType dtype, int from) {
  run({.kind = Collective::Receive, .dtype = dtype, .count = count, .peer = from, .output = data});
}

DISTRIBUTE_INLINE void Communicator::barrier() { run({.kind = Collective::Barrier}); }

}  // namespace distribute::collective
