#pragma once
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/replica/replica_context.hpp>

#include <map>
#include <mutex>

namespace distribute::nn {

/// How often each replica has called the layer.
struct Dropout::Calls {
  std::mutex mutex;  // guards `of_replica`
  std::map<int, uint64_t> of_replica;
  uint64_t next(int replica) {
    const std::lock_guard lock(mutex);
    return of_replica[replica]++;
  }
};

DISTRIBUTE_INLINE Dropout::Dropout(DropoutOptions options)
    : Module(options.name),
      rate_(float(options.rate)),
      seed_(options.seed ? *options.seed : random::next_seed()),
      calls_(std::make_unique<Calls>()) {
  if (!(rate_ >= 0.0f && rate_ <= 1.0f))
    throw InvalidArgumentError(str_cat("Dropout: rate must be in [0, 1], got ", rate_));
}

DISTRIBUTE_INLINE Dropout::~Dropout() = default;
DISTRIBUTE_INLINE Dropout::Dropout(Dropout&&) noexcept = default;
DISTRIBUTE_INLINE Dropout& Dropout::operator=(Dropout&&) noexcept = default;

DISTRIBUTE_INLINE Tensor Dropout::call(const Tensor& x, CallOptions options) {
  if (!options.training || rate_ == 0.0f) return x;
  if (rate_ == 1.0f) return zeros_like(x);
  const ReplicaContext* replica = get_replica_context();
  const int id = replica ? replica->replica_id_in_sync_group() : 0;
  // An odd constant: seeds of different replicas never meet.
  const uint64_t seed = seed_ + uint64_t(id) * 0x9E3779B97F4A7C15u;
  return dropout(x, rate_, seed, [calls = calls_.get(), id] { return calls->next(id); });
}

}  // namespace distribute::nn
