#pragma once
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/random.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Dropout::Dropout(DropoutOptions options)
    : Module(options.name),
      rate_(float(options.rate)),
      seed_(options.seed ? *options.seed : random::next_seed()),
      calls_(new nn_internal::ReplicaCalls()) {
  if (!(rate_ >= 0.0f && rate_ <= 1.0f))
    throw InvalidArgumentError(str_cat("Dropout: rate must be in [0, 1], got ", rate_));
}

DISTRIBUTE_INLINE Dropout::~Dropout() = default;
DISTRIBUTE_INLINE Dropout::Dropout(Dropout&&) noexcept = default;
DISTRIBUTE_INLINE Dropout& Dropout::operator=(Dropout&&) noexcept = default;

DISTRIBUTE_INLINE Tensor Dropout::call(const Tensor& x, CallOptions options) {
  if (!options.training || rate_ == 0.0f) return x;
  if (rate_ == 1.0f) return zeros_like(x);
  const nn_internal::CallSeed call = calls_->next(seed_);
  return dropout(x, rate_, call.seed, call.counter);
}

}  // namespace distribute::nn
