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

/// An operation's tensor on this rank, on the CPU; `input` is none on a rank that has joined.
/// Row-major, but for all-reduces, whose output has the layout of the input where all ranks have
/// the same.
struct Part {
  Tensor input, output;
  bool transient = false;         // the output is gone before the next one of its kind
  std::vector<int64_t> received;  // Alltoall: rows from each rank
};

/// Reduces all parts; small ones travel together, and their outputs share memory: of `memory` when
/// all are transient.
void all_reduce(collective::Communicator& group, const Response& response, std::vector<Part>& parts,
                ReductionMemory& memory);
/// One operation of any other kind. `root`: the rank in the group for Broadcast.
void execute(collective::Communicator& group, const Response& response, int root, Part& part);

/// The rows that each of `ranks` gets when `rows` are scattered.
std::vector<int64_t> scattered_rows(int64_t rows, int ranks);

}  // namespace distribute::horovod_internal
