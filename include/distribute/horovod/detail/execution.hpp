#pragma once
/// Carries out what the coordinator has decided, on tensors in host memory.

#include <distribute/base/config.hpp>
#include <distribute/horovod/detail/reduction_memory.hpp>
#include <distribute/horovod/detail/request.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::collective {
class Communicator;
}

namespace distribute::horovod_internal {

/// An operation's tensor on this rank, on the CPU. `input` is empty on a rank that has joined.
/// Tensors are row-major, except in all-reduces: their output has the layout of the input if all
/// ranks have the same one.
struct Part {
  Tensor input, output;
  bool transient = false;         // the output dies before the next one of its kind
  std::vector<int64_t> received;  // Alltoall: number of rows from each rank
};

/// Reduces all parts. Small parts are sent together and their outputs share memory, taken from
/// `memory` if all are transient.
void all_reduce(collective::Communicator& group, const Response& response, std::vector<Part>& parts,
                ReductionMemory& memory);
/// Carries out one operation of another kind. `root` is the rank in the group for Broadcast.
void execute(collective::Communicator& group, const Response& response, int root, Part& part);

/// The number of rows that each of `ranks` gets when `rows` are scattered.
std::vector<int64_t> scattered_rows(int64_t rows, int ranks);

}  // namespace distribute::horovod_internal
