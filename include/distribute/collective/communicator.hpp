#pragma once
/// Collective operations of a rank with the other ranks of its group.

#include <distribute/base/config.hpp>
#include <distribute/collective/detail/collective_metrics.hpp>
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
  double timeout_seconds = 300;  // of every operation, measured from its turn
  /// Called once, when the first operation fails; it may throw a better error instead.
  std::function<void(const Error& error, const FlightRecorder& recorder)> on_failure = nullptr;
  /// Records every operation, in a row of this name; null: none is recorded.
  std::shared_ptr<Timeline> timeline = nullptr;
  std::string timeline_row = "collectives";
};

/// An operation that runs while its caller continues; copies refer to the same operation.
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

/// A rank's end of a group. Counts are in elements. Thread-safe, as far as threads keep the order.
/// 1. Every rank of the group makes the same calls in the same order.
/// 2. Operations run one after the other in that order.
/// 3. After any error except InvalidArgumentError the group is broken, and every call throws the
///    first error again.
/// Blocks  in each function until this rank's part is done, at most `timeout_seconds`.
/// Throws  FailedPreconditionError when ranks run different operations, with both;
///          DeadlineExceededError with the ranks that did not come; UnavailableError when a rank is
///          lost; InvalidArgumentError for bad arguments.
class Communicator {
 public:
  explicit Communicator(std::unique_ptr<Transport> transport, CommunicatorOptions options = {});
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Return this process's number in the group, the number of ranks, and what carries the bytes
  /// ("shm", "tcp", ...).
  int rank() const { return transport_->rank(); }
  int size() const { return transport_->size(); }
  const char* transport() const { return transport_->name(); }

  /// Reduces over all ranks, each of which gets the result, in place or elsewhere; input and output
  /// must not overlap in part.
  /// Units   bytes on the wire per rank: 2 (n-1)/n * size.
  void all_reduce(void* data, int64_t count, DType dtype, ReductionOp op = ReductionOp::Sum);
  void all_reduce(const void* input, void* output, int64_t count, DType dtype, ReductionOp op);
  /// Starts an all_reduce and returns at once; both arrays must live until Work::wait() has
  /// returned.
  Work all_reduce_async(const void* input, void* output, int64_t count, DType dtype,
                        ReductionOp op = ReductionOp::Sum);
  /// Start a reduce_scatter or an all_gather and return at once; both arrays and `counts` must live
  /// until Work::wait() has returned.
  Work reduce_scatter_async(const void* input, void* output, std::span<const int64_t> counts,
                            DType dtype, ReductionOp op = ReductionOp::Sum);
  Work all_gather_async(const void* input, void* output, std::span<const int64_t> counts,
                        DType dtype);
  /// Makes the operation a part of the CUDA graph that the calling thread records; see
  /// Transport::record.
  /// Blocks  until the operations queued before are done, not for other ranks.
  /// Throws  FailedPreconditionError when the transport cannot record.
  void record_all_reduce(const void* input, void* output, int64_t count, DType dtype,
                         ReductionOp op, const std::shared_ptr<CudaGraphLife>& graph);
  /// Makes the thread's later work in the graph follow all operations recorded so far.
  void join_recorded() { transport_->join_recorded(); }
  /// Reduces in place on `root`; on other ranks `data` is only read.
  void reduce(void* data, int64_t count, DType dtype, ReductionOp op, int root);
  /// Reduces `input`, which holds sum(counts) elements; rank r gets counts[r] elements of the
  /// result.
  void reduce_scatter(const void* input, void* output, std::span<const int64_t> counts, DType dtype,
                      ReductionOp op = ReductionOp::Sum);
  /// Joins the counts[r] elements of each rank r; every rank gets all, in rank order.
  void all_gather(const void* input, void* output, std::span<const int64_t> counts, DType dtype);
  /// Works as all_gather for `root` alone; `output` may be null on other ranks.
  void gather(const void* input, void* output, std::span<const int64_t> counts, DType dtype,
              int root);
  void broadcast(void* data, int64_t count, DType dtype, int root);
  /// Sends part r of `input` to rank r, and receives part r of `output` from it; `count` elements
  /// each.
  void all_to_all(const void* input, void* output, int64_t count, DType dtype);
  void send(const void* data, int64_t count, DType dtype, int to);
  void receive(void* data, int64_t count, DType dtype, int from);
  void barrier();

  /// Makes running and later operations throw this error; any thread may call it.
  void abort(StatusCode code, const std::string& message);
  /// Notes that `rank` takes part in nothing more; any thread may call it. See Transport::depart.
  void depart(int rank, const std::string& reason) { transport_->depart(rank, reason); }
  /// See Transport::shared_memory.
  std::span<std::byte> shared_memory(int rank) const { return transport_->shared_memory(rank); }
  std::span<std::byte> shared_memory() const { return shared_memory(rank()); }
  const FlightRecorder& recorder() const { return recorder_; }
  /// Returns the number of operations of the whole group called here; nullopt when the group is
  /// broken.
  std::optional<uint64_t> operations() const;

 private:
  Operation prepare(Operation operation);
  void run(Operation operation);
  Work start(const Operation& operation);
  void execute(Operation operation, uint64_t record);
  void end(uint64_t record, bool failed);
  void count(const Operation& operation, int64_t nanoseconds);
  void work_off();

  std::unique_ptr<Transport> transport_;
  const CommunicatorOptions options_;
  FlightRecorder recorder_;
  int timeline_row_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  uint64_t sequence_ = 0;
  bool busy_ = false, stop_ = false;
  std::exception_ptr error_;
  std::deque<std::shared_ptr<Work::State>> queue_;
  std::thread thread_;  // starts with the first asynchronous operation
  // Metrics by kind, looked up when the first operation of a kind has ended; used by the executing
  // thread.
  std::array<CollectiveCells, kCollectives> cells_;
};

}  // namespace distribute::collective
