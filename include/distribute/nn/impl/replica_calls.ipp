#pragma once
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/replica/replica_context.hpp>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE CallSeed ReplicaCalls::next(uint64_t seed) {
  const ReplicaContext* replica = get_replica_context();
  const int id = replica ? replica->replica_id_in_sync_group() : 0;
  // An odd constant: seeds of different replicas never meet.
  return {seed + uint64_t(id) * 0x9E3779B97F4A7C15u, [this, id] {
            const std::lock_guard lock(mutex_);
            return of_replica_[id]++;
          }};
}

}  // namespace distribute::nn::nn_internal
