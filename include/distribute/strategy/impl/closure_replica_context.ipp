#pragma once
#include <distribute/strategy/detail/closure_replica_context.hpp>

namespace distribute {

DISTRIBUTE_INLINE void ClosureReplicaContext::merge_untyped(
    const replica_internal::MeetingLead& lead, void* mine) {
  const replica_internal::ModeScope mode(
      {nullptr, &strategy(), -1, replica_internal::mode_stack().back().group});
  lead(std::span<void* const>(&mine, 1));
}

}  // namespace distribute
