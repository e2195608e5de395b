#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace distribute::nn {

namespace language_models_internal {

DISTRIBUTE_INLINE void check_scaling(const RopeScaling& o) {
  const auto fail = [](const auto&... parts) {
    throw InvalidArgumentError(str_cat("RotaryEmbedding: ", parts...));
  };
  if (o.rope_type == "default") return;
  const bool known = o.rope_type == "linear" || o.rope_type == "dynamic" ||
                     o.rope_type == "llama3" || o.rope_type == "yarn";
  if (!known)
    fail("rope_type is '", o.rope_type, "', wanted default, linear, dynamic, llama3 or yarn");
  if (!(o.factor > 0) || std::isinf(o.factor)) fail("factor must be positive, got ", o.factor);
  if (o.rope_type != "linear" && o.original_max_position_embeddings < 1)
    fail("original_max_position_embeddings must be positive for '", o.rope_type, "', got ",
         o.original_max_position_embeddings);
  if (o.rope_type == "llama3" && !(o.low_freq_factor > 0 && o.high_freq_factor > o.low_freq_factor))
    fail("high_freq_factor must be above low_freq_factor, which is positive, got ",
         o.high_freq_factor, " and ", o.low_freq_factor);
  if (o.rope_type == "yarn" && !(o.beta_slow > 0 && o.beta_fast >= o.beta_slow))
    fail("beta_fast must be at least beta_slow, which is positive, got ", o.beta_fast, " and ",
         o.beta_slow);
}

/// Frequency i is 1 / base^(2 i / depth). As in all that follows, each result is rounded to float32
/// like in transformers: at position 100,000 a rounding moves the angle by 1/100.
DISTRIBUTE_INLINE std::vector<float> plain_frequencies(double base, int64_t depth) {
  std::vector<float> all;
  for (int64_t i = 0; i < depth; i += 2)
    all.push_back(1.0f / float(std::pow(double(float(base)), double(float(i) / float(depth)))));
  return all;
}

/// The base that reaches `last` positions.
DISTRIBUTE_INLINE double dynamic_base(const RopeScaling& o, double base, int64_t depth,
                                      int64_t last) {
  const double original = double(o.original_max_position_embeddings);
  if (depth == 2)
    throw InvalidArgumentError("RotaryEmbedding: 'dynamic' wants a depth of 4 or more");
  if (double(last) <= original) return base;
  return base * std::pow(o.factor * double(last) / original - (o.factor - 1),
                         double(depth) / double(depth - 2));
}

DISTRIBUTE_INLINE float llama3_frequency(const RopeScaling& o, float frequency) {
  const float original = float(o.original_max_position_embeddings), factor = float(o.factor);
  const float low = float(o.low_freq_factor), high = float(o.high_freq_factor);
  const float wavelength = float(2 * M_PI) / frequency;
  if (wavelength > original / low) return frequency / factor;
  if (wavelength < original / high) return frequency;
  const float share = (original / wavelength - low) / (high - low);
  return (1 - share) * frequency / factor + share * frequency;
}

/// The index of the frequency that turns so often in the original positions.
DISTRIBUTE_INLINE double yarn_bound(const RopeScaling& o, double base, int64_t depth,
                                    double turns) {
  const double original = double(o.original_max_position_embeddings);
  return double(depth) * std::log(original / (turns * 2 * M_PI)) / (2 * std::log(base));
}

DISTRIBUTE_INLINE void scale_by_yarn(const RopeScaling& o, double base, int64_t depth,
                                     std::vector<float>& frequencies) {
  double low = yarn_bound(o, base, depth, o.beta_fast);
  double high = yarn_bound(o, base, depth, o.beta_slow);
  if (o.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, double(depth - 1));
  if (low == high) high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float ramp = std::clamp((float(i) - float(low)) / float(high - low), 0.0f, 1.0f);
    const float whole = frequencies[i], divided = 1 / (float(o.factor) * (1 / whole));
    frequencies[i] = divided * (1 - (1 - ramp)) + whole * (1 - ramp);
  }
}

DISTRIBUTE_INLINE std::vector<float> frequencies_of(const RotaryEmbeddingOptions& options,
                                                    int64_t depth, int64_t last) {
  const RopeScaling& o = options.rope_scaling;
  double base = options.max_wavelength;
  if (o.rope_type == "dynamic") base = dynamic_base(o, base, depth, last);
  std::vector<float> all = plain_frequencies(base, depth);
  for (float& frequency : all) {
    if (o.rope_type == "linear") frequency /= float(o.factor);
    if (o.rope_type == "llama3") frequency = llama3_frequency(o, frequency);
  }
  if (o.rope_type == "yarn") scale_by_yarn(o, base, depth, all);
  return all;
}

DISTRIBUTE_INLINE float length_of_vectors(const RopeScaling& o) {
  if (o.rope_type != "yarn") return 1;
  if (o.attention_factor != 0) return float(o.attention_factor);
  return o.factor <= 1 ? 1.0f : float(0.1 * std::log(o.factor) + 1);
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE RotaryEmbedding::RotaryEmbedding(RotaryEmbeddingOptions options)
    : LayerOf(std::move(options)) {
  if (!(options_.max_wavelength > 0) || !(options_.scaling_factor > 0))
    throw InvalidArgumentError(
        str_cat("RotaryEmbedding: max_wavelength and scaling_factor must be positive, got ",
                options_.max_wavelength, " and ", options_.scaling_factor));
  language_models_internal::check_scaling(options_.rope_scaling);
}

DISTRIBUTE_INLINE RotaryAngles RotaryEmbedding::angles(const Tensor& positions,
                                                       int64_t depth) const {
  if (depth < 2 || depth % 2)
    throw InvalidArgumentError(
        str_cat("RotaryEmbedding '", name(), "': the depth must be even, got ", depth));
  const Tensor host = positions.to(Device{});
  const auto places = host.data<int32_t>();
  const int64_t last = places.empty() ? 0 : *std::max_element(places.begin(), places.end()) + 1;
  const auto frequencies = language_models_internal::frequencies_of(options_, depth, last);
  const float length = language_models_internal::length_of_vectors(options_.rope_scaling);
  const size_t half = frequencies.size();
  std::vector<float> cosines(places.size() * half), sines(cosines.size());
  for (size_t p = 0; p < places.size(); ++p) {
    const float position = float(places[p]) / float(options_.scaling_factor);
    for (size_t i = 0; i < half; ++i) {
      const float angle = position * frequencies[i];
      cosines[p * half + i] = float(std::cos(double(angle))) * length;
      sines[p * half + i] = float(std::sin(double(angle))) * length;
    }
  }
  const Shape shape{positions.shape()[0], positions.shape()[1], 1, int64_t(half)};
  return {Tensor(shape, cosines), Tensor(shape, sines)};
}

DISTRIBUTE_INLINE RotaryAngles RotaryEmbedding::angles_by_operations(const Tensor& positions,
                                                                     int64_t depth) const {
  if (options_.rope_scaling.rope_type == "dynamic")
    throw UnimplementedError(str_cat("RotaryEmbedding '", name(),
                                     "': frequencies of 'dynamic' follow the longest sequence, ",
                                     "which an exported file cannot do"));
  const auto frequencies = language_models_internal::frequencies_of(options_, depth, 0);
  const float length = language_models_internal::length_of_vectors(options_.rope_scaling);
  const Tensor row(Shape{1, 1, 1, depth / 2}, frequencies);
  const Tensor at = reshape(cast(positions, DType::Float32), {-1, positions.shape()[1], 1, 1});
  const Tensor angles = at / float(options_.scaling_factor) * row;
  return {cos(angles) * length, sin(angles) * length};
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
