#pragma once
/// Memory in which gradients of the ranks of a host are summed without extra copies.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>

namespace distribute::collective {
class Communicator;
}

namespace distribute::horovod_internal {

/// Gives out memory of a rank that the other ranks of the host see (Transport::shared_memory). One
/// thread takes arrays; they may be dropped on any thread.
///
/// Invariants:
/// 1. The memory is given out from its beginning; used_bytes_ is the end of the used part.
/// 2. It is given out from the beginning again only when no array from it lives any more; each such
///    array holds given_.
class ReductionMemory {
 public:
  explicit ReductionMemory(std::shared_ptr<collective::Communicator> group)
      : group_(std::move(group)), given_(std::make_shared<int>()) {}

  /// Gives `bytes` bytes with undefined contents; ordinary memory of this process when there is no
  /// shared memory or it is full.
  Array take(int64_t bytes);

 private:
  std::shared_ptr<collective::Communicator> group_;
  std::shared_ptr<int> given_;  // held by all arrays that still live
  int64_t used_bytes_ = 0;
};

}  // namespace distribute::horovod_internal
