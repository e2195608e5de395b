#pragma once
/// Where gradients of the ranks of a host are summed without a copy to and fro.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <memory>

namespace distribute::collective {
class Communicator;
}

namespace distribute::horovod_internal {

/// A rank's memory that the others see (Transport::shared_memory), given out from its beginning and
/// all at once taken back. One thread; what was given may end on any.
class ReductionMemory {
 public:
  explicit ReductionMemory(std::shared_ptr<collective::Communicator> group)
      : group_(std::move(group)), given_(std::make_shared<int>()) {}

  /// `bytes` bytes, contents undefined; fresh memory of this process when the others' is not there,
  /// or is full.
  Array take(int64_t bytes);

 private:
  std::shared_ptr<collective::Communicator> group_;
  std::shared_ptr<int> given_;  // held by all arrays that still live
  int64_t used_bytes_ = 0;
};

}  // namespace distribute::horovod_internal
