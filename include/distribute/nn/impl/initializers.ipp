#pragma once
#include <distribute/nn/initializers.hpp>
#include <distribute/ops/random.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::nn::initializers {

DISTRIBUTE_INLINE Initializer zeros() { return constant(0.0f); }
DISTRIBUTE_INLINE Initializer ones() { return constant(1.0f); }
DISTRIBUTE_INLINE Initializer constant(float value) {
  return [value](const Shape& shape, uint64_t) { return fill(shape, value); };
}

DISTRIBUTE_INLINE Initializer value(const Tensor& tensor) {
  return [tensor](const Shape& shape, uint64_t) {
    if (tensor.shape() != shape)
      throw InvalidArgumentError(concat("initializer value has shape ", to_string(tensor.shape()),
                                        ", the weight ", to_string(shape)));
    return tensor;
  };
}

DISTRIBUTE_INLINE Initializer random_normal(float mean, float stddev, Seed seed) {
  return [=](const Shape& shape, uint64_t next) {
    return random::normal(shape, seed.value_or(next), {mean, stddev});
  };
}

DISTRIBUTE_INLINE Initializer random_uniform(float minimum, float maximum, Seed seed) {
  return [=](const Shape& shape, uint64_t next) {
    return random::uniform(shape, seed.value_or(next), {minimum, maximum});
  };
}

DISTRIBUTE_INLINE Initializer truncated_normal(float mean, float stddev, Seed seed) {
  return [=](const Shape& shape, uint64_t next) {
    return random::truncated_normal(shape, seed.value_or(next), {mean, stddev});
  };
}

DISTRIBUTE_INLINE Initializer glorot_uniform(Seed seed) {
  return variance_scaling({1.0f, FanMode::Average, Distribution::Uniform, seed});
}
DISTRIBUTE_INLINE Initializer glorot_normal(Seed seed) {
  return variance_scaling({1.0f, FanMode::Average, Distribution::TruncatedNormal, seed});
}
DISTRIBUTE_INLINE Initializer he_uniform(Seed seed) {
  return variance_scaling({2.0f, FanMode::In, Distribution::Uniform, seed});
}
DISTRIBUTE_INLINE Initializer he_normal(Seed seed) {
  return variance_scaling({2.0f, FanMode::In, Distribution::TruncatedNormal, seed});
}
DISTRIBUTE_INLINE Initializer lecun_uniform(Seed seed) {
  return variance_scaling({1.0f, FanMode::In, Distribution::Uniform, seed});
}
DISTRIBUTE_INLINE Initializer lecun_normal(Seed seed) {
  return variance_scaling({1.0f, FanMode::In, Distribution::TruncatedNormal, seed});
}

DISTRIBUTE_INLINE Fans compute_fans(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return {1, 1};
  if (rank == 1) return {double(shape[0]), double(shape[0])};
  double receptive = 1;
  for (int axis = 0; axis < rank - 2; ++axis) receptive *= double(shape[axis]);
  return {double(shape[-2]) * receptive, double(shape[-1]) * receptive};
}

DISTRIBUTE_INLINE Initializer variance_scaling(VarianceScaling options) {
  if (options.scale <= 0)
    throw InvalidArgumentError(concat("variance_scaling: scale ", options.scale, ", wanted > 0"));
  return [options](const Shape& shape, uint64_t next) {
    const Fans fans = compute_fans(shape);
    double fan = (fans.in + fans.out) / 2;
    if (options.mode != FanMode::Average) fan = options.mode == FanMode::In ? fans.in : fans.out;
    const double scale = options.scale / std::max(1.0, fan);
    const uint64_t seed = options.seed.value_or(next);
    // 0.8796...: standard deviation of a unit normal that is cut off at two.
    constexpr double kTruncated = .87962566103423978;
    switch (options.distribution) {
      case Distribution::TruncatedNormal:
        return random::truncated_normal(shape, seed, {0.0f, float(std::sqrt(scale) / kTruncated)});
      case Distribution::UntruncatedNormal:
        return random::normal(shape, seed, {0.0f, float(std::sqrt(scale))});
      default: break;
    }
    const float limit = float(std::sqrt(3 * scale));
    return random::uniform(shape, seed, {-limit, limit});
  };
}

}  // namespace distribute::nn::initializers
