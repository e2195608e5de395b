#pragma once
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE GaussianNoise::GaussianNoise(GaussianNoiseOptions options)
    : Module(options.name),
      stddev_(options.stddev),
      seed_(options.seed ? *options.seed : random::next_seed()),
      calls_(new nn_internal::ReplicaCalls()) {
  if (!(stddev_ >= 0 && stddev_ <= 1))
    throw InvalidArgumentError(
        str_cat("Invalid value received for argument `stddev`. Expected a "
                "float value between 0 and 1. Received: stddev=",
                stddev_));
}

DISTRIBUTE_INLINE GaussianNoise::~GaussianNoise() = default;
DISTRIBUTE_INLINE GaussianNoise::GaussianNoise(GaussianNoise&&) noexcept = default;
DISTRIBUTE_INLINE GaussianNoise& GaussianNoise::operator=(GaussianNoise&&) noexcept = default;

DISTRIBUTE_INLINE Tensor GaussianNoise::call(const Tensor& x, CallOptions options) {
  if (!options.training || stddev_ == 0) return x;
  const nn_internal::CallSeed call = calls_->next(seed_);
  // Two calls never share a seed: an odd constant again, and an even one for replicas.
  const uint64_t seed = call.seed ^ (call.counter() * 0xD1B54A32D192ED03u);
  const Tensor noise = random::normal(x.shape(), seed, {.stddev = stddev_});
  return x + cast(noise.to(x.device()), x.dtype());
}

DISTRIBUTE_INLINE SpatialDropout::SpatialDropout(int rank, DropoutOptions options)
    : Module(options.name),
      rank_(rank),
      dropout_(add("dropout", Dropout({.rate = options.rate, .seed = options.seed}))) {
  if (!options.noise_shape.empty())
    throw InvalidArgumentError(str_cat("SpatialDropout", rank - 2, "D: has no noise_shape; it ",
                                       "drops whole channels. Dropout has one"));
}

DISTRIBUTE_INLINE Tensor SpatialDropout::call(const Tensor& x, CallOptions options) {
  if (x.shape().rank() != rank_)
    throw InvalidArgumentError(
        str_cat("layer '", name(), "' takes ", rank_, " axes, got ", to_string(x.shape())));
  if (!options.training) return x;
  Shape channels = x.shape();
  for (int axis = 1; axis + 1 < rank_; ++axis) channels = channels.with(axis, 1);
  return x * dropout_(fill(channels, 1, x.dtype(), x.device()), {.training = true});
}

}  // namespace distribute::nn
