#pragma once
#include <distribute/strategy/detail/closure_replica_context.hpp>

namespace distribute {

DISTRIBUTE_INLINE void ClosureReplicaContext::merge(
    const std::function<void(std::span<void* const>)>& fn, void* argument) {
  const replica_internal::ModeScope mode(
      {nullptr, &strategy(), -1, replica_internal::mode_stack().back().group});
  fn(std::span<void* const>(&argument, 1));
}

}  // namespace distribute
