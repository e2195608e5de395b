#pragma once
/// Horovod's operations on tensors of all ranks.

#include <distribute/base/config.hpp>
#include <distribute/horovod/compression.hpp>
#include <distribute/horovod/handle.hpp>
#include <distribute/horovod/op.hpp>
#include <distribute/horovod/process_set.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace distribute::hvd {

// Ranks may submit operations in any order: they are known by their name, and those without one by
// the number of the call of their kind, which must then be the same on all ranks. Waiting blocks,
// and throws, as Handle::wait(). The first form of each waits and has a gradient; _async does not.

/// Of operations that compute nothing.
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
