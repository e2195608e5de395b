#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <cmath>
#include <vector>

namespace distribute::nn {

DISTRIBUTE_INLINE RotaryEmbedding::RotaryEmbedding(RotaryEmbeddingOptions options)
    : LayerOf(std::move(options)) {
  if (!(options_.max_wavelength > 0) || !(options_.scaling_factor > 0))
    throw InvalidArgumentError(
        str_cat("RotaryEmbedding: max_wavelength and scaling_factor must be positive, got ",
                options_.max_wavelength, " and ", options_.scaling_factor));
}

DISTRIBUTE_INLINE RotaryAngles RotaryEmbedding::angles(const Tensor& positions,
                                                       int64_t depth) const {
  if (depth < 2 || depth % 2)
    throw InvalidArgumentError(
        str_cat("RotaryEmbedding '", name(), "': the depth must be even, got ", depth));
  const Tensor host = positions.to(Device{});
  const auto places = host.data<int32_t>();
  const size_t half = size_t(depth / 2);
  std::vector<float> cosines(places.size() * half), sines(cosines.size());
  for (size_t i = 0; i < half; ++i) {
    const double frequency = 1 / std::pow(options_.max_wavelength, 2 * double(i) / double(depth));
    for (size_t p = 0; p < places.size(); ++p) {
      const double angle = places[p] / options_.scaling_factor * frequency;
      cosines[p * half + i] = float(std::cos(angle));
      sines[p * half + i] = float(std::sin(angle));
    }
  }
  const Shape shape{positions.shape()[0], positions.shape()[1], 1, int64_t(half)};
  return {Tensor(shape, cosines), Tensor(shape, sines)};
}

DISTRIBUTE_INLINE Tensor RotaryEmbedding::turn(const Tensor& x, const RotaryAngles& angles) {
  const std::vector<Tensor> halves = split(x, 2, -1);
  const Tensor cosines = cast(angles.cosines, x.dtype()).to(x.device());
  const Tensor sines = cast(angles.sines, x.dtype()).to(x.device());
  return concat({halves[0] * cosines - halves[1] * sines, halves[1] * cosines + halves[0] * sines},
                -1);
}

DISTRIBUTE_INLINE Tensor RotaryEmbedding::call(const Tensor& x, CallOptions) {
  const Shape& shape = x.shape();
  if (shape.rank() != 3 && shape.rank() != 4)
    throw InvalidArgumentError(str_cat("RotaryEmbedding '", name(),
                                       "' takes [batch, steps, heads, ",
                                       "depth] or [batch, steps, depth], got ", to_string(shape)));
  const Tensor positions = reshape(range(int32_t(shape[1])), {1, shape[1]});
  const RotaryAngles all = angles(positions, shape[-1]);
  if (shape.rank() == 4) return turn(x, all);
  return squeeze(turn(expand_dims(x, 2), all), {2});
}

}  // namespace distribute::nn
