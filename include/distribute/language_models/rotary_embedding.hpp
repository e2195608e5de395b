#pragma once
/// Rotary positions: queries and keys are turned by angles that grow with their positions.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>

namespace distribute::nn {

struct RotaryEmbeddingOptions {  // options of RotaryEmbedding
  double max_wavelength = 10'000;
  double scaling_factor = 1;  // positions are divided by it
  std::string name = {};
};

/// Cosines and sines of the angles of positions, float32 [batch or 1, steps, 1, depth / 2].
struct RotaryAngles {
  Tensor cosines, sines;
};

/// Turns element i of the first half of a vector and element i of its second half by the angle
/// position / scaling_factor / max_wavelength^(2 i / depth). The positions are 0, 1, 2, ... along
/// the first axis behind the batch.
/// Shapes  [batch, steps, heads, depth] or [batch, steps, depth] -> the same; the depth is even.
/// Throws  InvalidArgumentError for other shapes.
/// Source  keras_hub.layers.RotaryEmbedding; Su et al. 2021
class RotaryEmbedding : public Module {
 public:
  explicit RotaryEmbedding(RotaryEmbeddingOptions options = {});

  /// Returns the angles of vectors of this depth.
  /// Shapes  positions int32 [batch or 1, steps].
  RotaryAngles angles(const Tensor& positions, int64_t depth) const;
  /// Turns x by these angles.
  static Tensor turn(const Tensor& x, const RotaryAngles& angles);
  /// The options that the constructor got.
  const RotaryEmbeddingOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  std::string kind() const override { return "rotary_embedding"; }

  RotaryEmbeddingOptions options_;
};

}  // namespace distribute::nn
