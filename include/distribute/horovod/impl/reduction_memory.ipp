#pragma once
#include <distribute/collective/communicator.hpp>
#include <distribute/horovod/detail/reduction_memory.hpp>

#include <span>

namespace distribute::horovod_internal {

DISTRIBUTE_INLINE Array ReductionMemory::take(int64_t bytes) {
  const std::span<std::byte> memory = group_->shared_memory();
  if (given_.use_count() == 1) used_bytes_ = 0;
  const int64_t begin = used_bytes_;
  if (begin + bytes > int64_t(memory.size())) return make_array(bytes, Device{});
  used_bytes_ += (bytes + 63) / 64 * 64;
  // The memory lives as long as the group.
  const auto buffer =
      std::make_shared<Buffer>(memory.data() + begin, bytes, Device{},
                               [group = group_, given = given_] { (void)group, (void)given; });
  return {buffer, 0, nullptr};
}

}  // namespace distribute::horovod_internal
