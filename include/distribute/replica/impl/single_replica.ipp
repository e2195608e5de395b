#pragma once
#include <distribute/base/error.hpp>
#include <distribute/replica/detail/default_strategy.hpp>
#include <distribute/replica/detail/single_replica.hpp>

namespace distribute {

DISTRIBUTE_INLINE Strategy& SingleReplicaContext::strategy() const {
  Strategy* found = strategy_ ? strategy_ : replica_internal::default_strategy().get();
  if (!found) throw FailedPreconditionError("call get_strategy() first: no strategy exists yet");
  return *found;
}

DISTRIBUTE_INLINE void SingleReplicaContext::merge(
    const std::function<void(std::span<void* const>)>& fn, void* argument) {
  const auto& modes = replica_internal::mode_stack();
  const replica_internal::ModeScope mode(
      {nullptr, modes.empty() ? strategy_ : modes.back().strategy, -1});
  fn(std::span<void* const>(&argument, 1));
}

namespace replica_internal {

DISTRIBUTE_INLINE ReplicaContext& default_replica_context() {
  static SingleReplicaContext instance(nullptr);
  return instance;
}

}  // namespace replica_internal

}  // namespace distribute
