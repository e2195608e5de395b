#pragma once
/// hvd.allreduce and the other collectives, blocking or with handles.

#include <distribute/base/config.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace distribute::hvd {

/// The ways to reduce. Sums are taken in a fixed order; 16-bit floats add in float32. An average
/// divides by the number of ranks of the process set, including those that have joined. The average
/// of integers is an integer, cut towards 0, as in Horovod 0.28: the average of 1 and 2 is 1. Cast
/// to a float type for 1.5. Source  horovod.Average, Sum, Min, Max, Product
enum class Op : uint8_t { Average, Sum, Min, Max, Product };
inline constexpr Op Average = Op::Average;
inline constexpr Op Sum = Op::Sum;
inline constexpr Op Min = Op::Min;
inline constexpr Op Max = Op::Max;
inline constexpr Op Product = Op::Product;

/// Gives a name such as "average".
const char* name_of(Op op);

/// The type in which float32 tensors are sent. Fp16 has 11 bits of mantissa and ends at 65,504;
/// Bf16 has 8 bits and float32's range. Sums are taken in float32 and rounded once.
/// Source  horovod.Compression
enum class Compression : uint8_t { None, Fp16, Bf16 };

/// Gives the tensor that is sent; tensors that are not float32 stay as they are.
Tensor compress(Compression compression, const Tensor& tensor);
/// Casts back to the dtype that the tensor had before compress().
Tensor decompress(const Tensor& tensor, DType dtype);

}  // namespace distribute::hvd

namespace distribute {
namespace horovod_internal {
class Engine;
struct Operation;
}  // namespace horovod_internal

namespace hvd {

/// Refers to an operation that may still run; copies refer to the same one. Thread-safe.
class Handle {
 public:
  Handle() = default;
  /// `dtype` and `device` are those of the result; the tensor that was sent may have had others.
  Handle(std::shared_ptr<horovod_internal::Engine> engine,
         std::shared_ptr<horovod_internal::Operation> operation, DType dtype, Device device);

  explicit operator bool() const { return operation_ != nullptr; }
  /// Returns whether the result is available; never blocks.
  bool done() const;
  /// Waits for the result.
  /// Blocks  until the operation is done; stalls and lost ranks end it.
  /// Throws  FailedPreconditionError, on all ranks, when they submitted different operations under
  ///         one name, with both; AbortedError when a rank has left; DeadlineExceededError for a
  ///         stall beyond the limit; UnavailableError when a rank is lost.
  Tensor wait() const;
  /// After an all-to-all: the number of rows from each rank, int64 [size].
  Tensor received_splits() const;
  /// After a join(): the last rank. After making a process set: its number.
  int number() const;

 private:
  std::shared_ptr<horovod_internal::Engine> engine_;
  std::shared_ptr<horovod_internal::Operation> operation_;
  DType dtype_ = DType::Float32;
  Device device_;
};

/// poll() tells whether synchronize() would return at once.
/// Source  horovod.torch.poll, synchronize
bool poll(const Handle& handle);
Tensor synchronize(const Handle& handle);
std::vector<Tensor> synchronize(const std::vector<Handle>& handles);

}  // namespace hvd
}  // namespace distribute

namespace distribute::hvd {

// Ranks may submit operations in any order. Operations are matched by name; those without a name by
// the number of the call of their kind, which must then be the same on all ranks. Waiting blocks
// and throws as Handle::wait() does. The first form of each function waits and has a gradient; the
// _async form has none.

/// Holds the options of operations that move data without computing.
struct OperationOptions {
  ProcessSet process_set = {};
  std::string name = {};
};

struct AllreduceOptions {  // options of allreduce()
  Op op = Average;
  double prescale_factor = 1, postscale_factor = 1;  // factors before and after the reduction
  Compression compression = Compression::None;
  ProcessSet process_set = {};
  std::string name = {};
};

/// Gives every rank the reduction over all ranks. IndexedSlices are joined, with rows in rank
/// order.
/// Shapes  the same on all ranks.
/// Source  horovod.allreduce
Tensor allreduce(const Tensor& tensor, const AllreduceOptions& options = {});
Handle allreduce_async(const Tensor& tensor, const AllreduceOptions& options = {});
/// Reduces all tensors together: no tensor is reduced before all ranks have submitted all of them.
/// Source  horovod.grouped_allreduce
std::vector<Tensor> grouped_allreduce(const std::vector<Tensor>& tensors,
                                      const AllreduceOptions& options = {});
std::vector<Handle> grouped_allreduce_async(const std::vector<Tensor>& tensors,
                                            const AllreduceOptions& options = {});

/// Joins the tensors of all ranks along the first axis; a scalar counts as one row.
/// Shapes  [rows of this rank, ...] -> [rows of all, ...]
/// Source  horovod.allgather
Tensor allgather(const Tensor& tensor, const OperationOptions& options = {});
Handle allgather_async(const Tensor& tensor, const OperationOptions& options = {});
std::vector<Tensor> grouped_allgather(const std::vector<Tensor>& tensors,
                                      const OperationOptions& options = {});

/// Gives every rank the tensor of `root_rank`, a rank of the job.
/// Source  horovod.broadcast
Tensor broadcast(const Tensor& tensor, int root_rank, const OperationOptions& options = {});
Handle broadcast_async(const Tensor& tensor, int root_rank, const OperationOptions& options = {});

struct AlltoallResult {  // the received rows, and their number from each rank
  Tensor output;
  Tensor received_splits;  // rows from each rank, int64 [size]
};
/// Distributes the rows: the first splits[0] go to rank 0 of the set, and so on. Returns the rows
/// that the other ranks sent here.
/// Shapes  splits: integers [size], or an empty tensor for equal parts.
/// Throws  InvalidArgumentError when the splits do not add up to the rows.
/// Source  horovod.alltoall
AlltoallResult alltoall(const Tensor& tensor, const Tensor& splits = {},
                        const OperationOptions& options = {});
Handle alltoall_async(const Tensor& tensor, const Tensor& splits = {},
                      const OperationOptions& options = {});

struct ReducescatterOptions {  // options of reducescatter()
  Op op = Average;
  double prescale_factor = 1, postscale_factor = 1;
  ProcessSet process_set = {};
  std::string name = {};
};
/// Gives each rank its rows of the reduction. When the rows are not divisible, the first ranks get
/// one more.
/// Source  horovod.reducescatter
Tensor reducescatter(const Tensor& tensor, const ReducescatterOptions& options = {});
Handle reducescatter_async(const Tensor& tensor, const ReducescatterOptions& options = {});
std::vector<Tensor> grouped_reducescatter(const std::vector<Tensor>& tensors,
                                          const ReducescatterOptions& options = {});

/// Waits for all ranks of a set.
/// Blocks  until every rank of the set has called it.
/// Source  horovod.barrier
void barrier(const ProcessSet& process_set = {});

/// Says that this rank has no data left: until all ranks have joined it contributes zeros to the
/// sums and averages of the others. Any other operation fails meanwhile. Returns the last rank to
/// join, whose weights have seen the most data.
/// Source  horovod.join
int join();

}  // namespace distribute::hvd

namespace distribute::horovod_internal {

/// Does what hvd::allreduce_async() does, but results may lie in memory that ranks of a host share,
/// so they must all be gone before the next call.
hvd::Handle begin_transient_allreduce(const Tensor& tensor, const hvd::AllreduceOptions& options);

}  // namespace distribute::horovod_internal
