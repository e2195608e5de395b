#pragma once
/// What a rank does with the other ranks of its group.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/library_metrics.hpp>
#include <distribute/collective/detail/flight_recorder.hpp>
#include <distribute/collective/detail/transport.hpp>
#include <distribute/collective/operation.hpp>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

namespace distribute::collective {

class Timeline;

struct CommunicatorOptions {     // options of Communicator
  double timeout_seconds = 300;  // of every operation, from its turn on
  /// Called once, when the first operation fails; may throw a better error in its place.
  std::function<void(const Error& error, const FlightRecorder& recorder)> on_failure = nullptr;
  /// Gets every operation, in a row of this name; null: none is recorded.
  std::shared_ptr<Timeline> timeline = nullptr;
  std::string timeline_row = "collectives";
};

/// An operation that runs beside its caller. A value; copies stand for the same operation.
class Work {
 public:
  Work() = default;
  bool done() const;
  /// Blocks  until the operation has ended.
  /// Throws  what the operation threw.
  void wait() const;

 private:
  friend class Communicator;
  struct State;
  std::shared_ptr<State> state_;
};

/// Every rank of the group must make the same calls in the same order; operations run one after
/// the other in that order. Counts are in elements. Thread-safe, as far as threads keep the order.
/// Blocks  each function until this rank's part is done, at most `timeout_seconds`.
/// Throws  FailedPreconditionError when ranks run different operations, with both;
///         DeadlineExceededError with the ranks that did not come; UnavailableError when a rank is
///         lost; InvalidArgumentError for bad arguments. After any of these but the last the group
///         is broken and every call throws the first error again.
class Communicator {
 public:
  explicit Communicator(std::unique_ptr<Transport> transport, CommunicatorOptions options = {});
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// This process's number in the group, how many there are, and what carries the bytes ("shm",
  /// "tcp", ...).
  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  const char* transport() const { return transport_->name(); }

  /// Every rank gets the result, in place or elsewhere; input and output must not overlap in part.
  /// Units   bytes on the wire per rank: 2 (n-1)/n * size.
  void all_reduce(void* data, int64_t count, DType dtype, ReductionOp op = ReductionOp::Sum);
  void all_reduce(const void* input, void* output, int64_t count, DType dtype, ReductionOp op);
  /// Returns at once; both arrays must stay until Work::wait() has returned.
  Work all_reduce_async(const void* input, void* output, int64_t count, DType dtype,
                        ReductionOp op = ReductionOp::Sum);
  /// Makes it a part of the CUDA graph that the calling thread records; see Transport::record.
  /// Blocks  until what was queued before is done, not for other ranks.
  /// Throws  FailedPreconditionError when the transport has no such way.
  void record_all_reduce(const void* input, void* output, int64_t count, DType dtype,
                         ReductionOp op, const std::shared_ptr<CudaGraphLife>& graph);
  /// What the thread records from now on comes after all that was recorded so.
  void join_recorded() { transport_->join_recorded(); }
  /// In place on `root`; elsewhere `data` is only read.
  void reduce(void* data, int64_t count, DType dtype, ReductionOp op, int root);
  /// `input` holds sum(counts) elements; rank r gets counts[r] of the result.
  void reduce_scatter(const void* input, void* output, std::span<const int64_t> counts, DType dtype,
                      ReductionOp op = ReductionOp::Sum);
  /// Rank r gives counts[r] elements; every rank gets all, in rank order.
  void all_gather(const void* input, void* output, std::span<const int64_t> counts, DType dtype);
  /// As all_gather, for `root` alone; `output` may be null elsewhere.
  void gather(const void* input, void* output, std::span<const int64_t> counts, DType dtype,
              int root);
  void broadcast(void* data, int64_t count, DType dtype, int root);
  /// Part r of `input` goes to rank r, part r of `output` comes from it; `count` elements each.
  void all_to_all(const void* input, void* output, int64_t count, DType dtype);
  void send(const void* data, int64_t count, DType dtype, int to);
  void receive(void* data, int64_t count, DType dtype, int from);
  void barrier();

  /// From any thread: operations, running or coming, throw this error.
  void abort(StatusCode code, const std::string& message);
  /// Says, from any thread, that `rank` takes part in nothing more; see Transport::depart.
  void depart(int rank, const std::string& reason) { transport_->depart(rank, reason); }
  /// See Transport::shared_memory.
  std::span<std::byte> shared_memory(int rank) const { return transport_->shared_memory(rank); }
  std::span<std::byte> shared_memory() const { return shared_memory(rank()); }
  const FlightRecorder& recorder() const { return recorder_; }
  /// How many operations of the whole group have been called here; none when the group is broken.
  std::optional<uint64_t> operations() const;

 private:
  Operation prepare(Operation operation);
  void run(Operation operation);
  void execute(Operation operation, uint64_t record);
  void end(uint64_t record, bool failed);
  void count(const Operation& operation, int64_t nanoseconds);
  void work_off();

  std::unique_ptr<Transport> transport_;
  const CommunicatorOptions options_;
  FlightRecorder recorder_;
  int timeline_row_ = 0;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  uint64_t sequence_ = 0;
  bool busy_ = false, stop_ = false;
  std::exception_ptr error_;
  std::deque<std::shared_ptr<Work::State>> queue_;
  std::thread thread_;  // starts with the first asynchronous operation
  // Of the thread that executes, by kind; looked up when the first of its kind has ended.
  std::array<monitoring::CollectiveCells, kCollectives> cells_;
};

}  // namespace distribute::collective
