#pragma once
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>

#include <cmath>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE LayerNoise::LayerNoise(std::optional<uint64_t> seed)
    : seed_(seed ? *seed : random::next_seed()), calls_(new ReplicaCalls()) {}
DISTRIBUTE_INLINE LayerNoise::~LayerNoise() = default;
DISTRIBUTE_INLINE LayerNoise::LayerNoise(LayerNoise&&) noexcept = default;
DISTRIBUTE_INLINE LayerNoise& LayerNoise::operator=(LayerNoise&&) noexcept = default;

DISTRIBUTE_INLINE Tensor LayerNoise::like(const Tensor& x, double stddev) {
  const CallSeed call = calls_->next(seed_);
  // Two calls never share a seed: an odd constant again, and an even one for replicas.
  const uint64_t seed = call.seed ^ (call.counter() * 0xD1B54A32D192ED03u);
  const Tensor noise = random::normal(x.shape(), seed, {.stddev = stddev});
  return cast(noise.to(x.device()), x.dtype());
}

DISTRIBUTE_INLINE double checked_rate(const char* layer, double rate) {
  if (!(rate >= 0 && rate <= 1))
    throw InvalidArgumentError(str_cat(layer, ": rate must be in [0, 1], got ", rate));
  return rate;
}

/// The rate 1 would give infinities.
DISTRIBUTE_INLINE void check_trains(const char* layer, double rate) {
  if (rate == 1) throw InvalidArgumentError(str_cat(layer, ": rate must be below 1 in training"));
}

}  // namespace nn_internal

DISTRIBUTE_INLINE GaussianNoise::GaussianNoise(GaussianNoiseOptions options)
    : Module(options.name), stddev_(options.stddev), noise_(options.seed) {
  if (!(stddev_ >= 0 && stddev_ <= 1))
    throw InvalidArgumentError(
        str_cat("Invalid value received for argument `stddev`. Expected a "
                "float value between 0 and 1. Received: stddev=",
                stddev_));
}

DISTRIBUTE_INLINE Tensor GaussianNoise::call(const Tensor& x, CallOptions options) {
  return options.training && stddev_ != 0 ? x + noise_.like(x, stddev_) : x;
}

DISTRIBUTE_INLINE GaussianDropout::GaussianDropout(DropoutOptions options)
    : Module(options.name),
      rate_(nn_internal::checked_rate("GaussianDropout", options.rate)),
      noise_(options.seed) {
  if (!options.noise_shape.empty())
    throw InvalidArgumentError("GaussianDropout has no noise_shape; Dropout has one");
}

DISTRIBUTE_INLINE Tensor GaussianDropout::call(const Tensor& x, CallOptions options) {
  if (!options.training || rate_ == 0) return x;
  nn_internal::check_trains("GaussianDropout", rate_);
  return x * (noise_.like(x, std::sqrt(rate_ / (1 - rate_))) + 1.0f);
}

DISTRIBUTE_INLINE AlphaDropout::AlphaDropout(DropoutOptions options)
    : Module(options.name),
      rate_(nn_internal::checked_rate("AlphaDropout", options.rate)),
      dropout_(add("dropout", Dropout({.rate = options.rate,
                                       .noise_shape = std::move(options.noise_shape),
                                       .seed = options.seed}))) {}

DISTRIBUTE_INLINE Tensor AlphaDropout::call(const Tensor& x, CallOptions options) {
  if (!options.training || rate_ == 0) return x;
  nn_internal::check_trains("AlphaDropout", rate_);
  constexpr double kLeast = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946;
  const double a = 1 / std::sqrt((1 - rate_) * (1 + rate_ * kLeast * kLeast));
  const Tensor stays = dropout_(zeros_like(x) + 1.0f, {.training = true}) * (1 - rate_);
  return (x * stays + (1.0f - stays) * kLeast) * a - a * kLeast * rate_;
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
