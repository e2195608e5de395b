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

/// Sums are taken in rank order; 16-bit floats add in float32. An average divides by the number of
/// ranks of the process set, those that have joined included; of integers it is an integer, cut
/// towards 0, as in Horovod 0.28: of 1 and 2 it is 1. Cast to a float type for 1.5.
/// Source  horovod.Average, Sum, Min, Max, Product
enum class Op : uint8_t { Average, Sum, Min, Max, Product };
inline constexpr Op Average = Op::Average;
inline constexpr Op Sum = Op::Sum;
inline constexpr Op Min = Op::Min;
inline constexpr Op Max = Op::Max;
inline constexpr Op Product = Op::Product;

/// "average".
const char* name_of(Op op);

/// Fp16 has 11 bits of mantissa and ends at 65,504; Bf16 has 8 bits and float32's range. Sums are
/// taken in float32 and rounded once.
/// Source  horovod.Compression
enum class Compression : uint8_t { None, Fp16, Bf16 };

/// What travels; tensors that are not float32 stay as they are.
Tensor compress(Compression compression, const Tensor& tensor);
/// Casts back to the dtype before compress().
Tensor decompress(const Tensor& tensor, DType dtype);

}  // namespace distribute::hvd

namespace distribute {
namespace horovod_internal {
class Engine;
struct Operation;
}  // namespace horovod_internal

namespace hvd {

/// A value; copies stand for the same operation. Thread-safe.
class Handle {
 public:
  Handle() = default;
  /// `dtype`, `device`: of the result; what traveled may have had others.
  Handle(std::shared_ptr<horovod_internal::Engine> engine,
         std::shared_ptr<horovod_internal::Operation> operation, DType dtype, Device device);

  explicit operator bool() const { return operation_ != nullptr; }
  /// Whether the result is there; never blocks.
  bool done() const;
  /// Blocks  until it is done; stalls and lost ranks end it.
  /// Throws  FailedPreconditionError, on all ranks, when they submitted different things under one
  ///         name, with both; AbortedError when a rank has left; DeadlineExceededError for a
  ///         stall beyond the limit; UnavailableError when a rank is lost.
  Tensor wait() const;
  /// After an all-to-all: the number of rows from each rank, int64 [size].
  Tensor received_splits() const;
  /// After a join(), the last rank; of a new process set, its number.
  int number() const;

 private:
  std::shared_ptr<horovod_internal::Engine> engine_;
  std::shared_ptr<horovod_internal::Operation> operation_;
  DType dtype_ = DType::Float32;
  Device device_;
};

/// Whether synchronize() would return at once.
/// Source  horovod.torch.poll, synchronize
bool poll(const Handle& handle);
Tensor synchronize(const Handle& handle);
std::vector<Tensor> synchronize(const std::vector<Handle>& handles);

}  // namespace hvd
}  // namespace distribute

namespace distribute::hvd {

// Ranks may submit operations in any order: they are known by their name, and those without one by
// the number of the call of their kind, which must then be the same on all ranks. Waiting blocks,
// and throws, as Handle::wait(). The first form of each waits and has a gradient; _async does not.

/// Options of operations that compute nothing.
struct OperationOptions {
  ProcessSet process_set = {};
  std::string name = {};
};

struct AllreduceOptions {  // options of allreduce()
  Op op = Average;
  double prescale_factor = 1, postscale_factor = 1;  // before and after the reduction
  Compression compression = Compression::None;
  ProcessSet process_set = {};
  std::string name = {};
};

/// Every rank gets the reduction of all; IndexedSlices are joined, rows in rank order.
/// Shapes  the same on all ranks.
/// Source  horovod.allreduce
Tensor allreduce(const Tensor& tensor, const AllreduceOptions& options = {});
Handle allreduce_async(const Tensor& tensor, const AllreduceOptions& options = {});
/// All tensors together: none is reduced before all ranks have all of them.
/// Source  horovod.grouped_allreduce
std::vector<Tensor> grouped_allreduce(const std::vector<Tensor>& tensors,
                                      const AllreduceOptions& options = {});
std::vector<Handle> grouped_allreduce_async(const std::vector<Tensor>& tensors,
                                            const AllreduceOptions& options = {});

/// The tensors of all ranks, one after the other; a scalar counts as one row.
/// Shapes  [rows of this rank, ...] -> [rows of all, ...]
/// Source  horovod.allgather
Tensor allgather(const Tensor& tensor, const OperationOptions& options = {});
Handle allgather_async(const Tensor& tensor, const OperationOptions& options = {});
std::vector<Tensor> grouped_allgather(const std::vector<Tensor>& tensors,
                                      const OperationOptions& options = {});

/// The tensor of `root_rank`, a rank of the job, on all.
/// Source  horovod.broadcast
Tensor broadcast(const Tensor& tensor, int root_rank, const OperationOptions& options = {});
Handle broadcast_async(const Tensor& tensor, int root_rank, const OperationOptions& options = {});

struct AlltoallResult {  // the rows and how many came from each rank
  Tensor output;
  Tensor received_splits;  // rows from each rank, int64 [size]
};
/// Deals the rows out: the first splits[0] to rank 0 of the set, and so on; gets theirs.
/// `splits`: integers [size], or none for equal parts.
/// Throws  InvalidArgumentError when the splits are not the rows.
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
/// This rank's rows of the reduction; the first ranks get one more where they are not divisible.
/// Source  horovod.reducescatter
Tensor reducescatter(const Tensor& tensor, const ReducescatterOptions& options = {});
Handle reducescatter_async(const Tensor& tensor, const ReducescatterOptions& options = {});
std::vector<Tensor> grouped_reducescatter(const std::vector<Tensor>& tensors,
                                          const ReducescatterOptions& options = {});

/// Blocks  until every rank of the set has called it.
/// Source  horovod.barrier
void barrier(const ProcessSet& process_set = {});

/// This rank has no data left: until all ranks have joined it gives zeros to the sums and averages
/// of the others. Any other operation of the others fails meanwhile. Returns the last rank to join,
/// whose weights have seen the most.
/// Source  horovod.join
int join();

}  // namespace distribute::hvd

namespace distribute::horovod_internal {

/// As hvd::allreduce_async(); all results must be gone before the next one begins, as they may lie
/// in memory that ranks of a host share.
hvd::Handle begin_transient_allreduce(const Tensor& tensor, const hvd::AllreduceOptions& options);

}  // namespace distribute::horovod_internal
