#pragma once
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Dropout::Dropout(DropoutOptions options)
    : Module(options.name),
      rate_(float(options.rate)),
      noise_shape_(std::move(options.noise_shape)),
      seed_(options.seed ? *options.seed : random::next_seed()),
      calls_(new nn_internal::ReplicaCalls()) {
  if (!(rate_ >= 0.0f && rate_ <= 1.0f))
    throw InvalidArgumentError(str_cat("Dropout: rate must be in [0, 1], got ", rate_));
  for (size_t i = 0; i < noise_shape_.size(); ++i)
    if (noise_shape_[i].value_or(1) < 1)
      throw InvalidArgumentError(
          str_cat("Invalid value received for argument `noise_shape`. Expected all dimensions to ",
                  "be positive integers or None. Received negative or zero value at index ", i,
                  ": ", *noise_shape_[i]));
}

DISTRIBUTE_INLINE Dropout::~Dropout() = default;
DISTRIBUTE_INLINE Dropout::Dropout(Dropout&&) noexcept = default;
DISTRIBUTE_INLINE Dropout& Dropout::operator=(Dropout&&) noexcept = default;

/// Throws  InvalidArgumentError where it does not broadcast to the input.
DISTRIBUTE_INLINE Shape Dropout::shape_of_mask(const Shape& input) const {
  const int rank = int(noise_shape_.size()), extra = input.rank() - rank;
  Shape shape;
  for (int i = 0; i < rank && extra >= 0; ++i) {
    const int64_t own = input[extra + i], size = noise_shape_[size_t(i)].value_or(own);
    if (size != own && size != 1) break;
    shape.push_back(size);
  }
  if (shape.rank() != rank)
    throw InvalidArgumentError(
        str_cat("Dropout '", name(), "': noise_shape does not broadcast to ", to_string(input)));
  return shape;
}

DISTRIBUTE_INLINE std::pair<uint64_t, std::function<uint64_t()>> Dropout::call_seed() {
  const nn_internal::CallSeed call = calls_->next(seed_);
  return {call.seed, call.counter};
}

DISTRIBUTE_INLINE Tensor Dropout::call(const Tensor& x, CallOptions options) {
  if (!options.training || rate_ == 0.0f) return x;
  if (rate_ == 1.0f) return zeros_like(x);
  const nn_internal::CallSeed call = calls_->next(seed_);
  if (noise_shape_.empty()) return dropout(x, rate_, call.seed, call.counter);
  const Tensor kept = fill(shape_of_mask(x.shape()), 1, x.dtype(), x.device());
  return x * dropout(kept, rate_, call.seed, call.counter);
}

}  // namespace distribute::nn
