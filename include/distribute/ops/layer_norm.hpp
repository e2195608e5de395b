#pragma once
/// Layer normalization: every row to mean 0 and variance 1.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

struct LayerNormOptions {  // of layer_norm()
  double epsilon = 1e-3;
  int begin_axis = -1;  // normalized over this axis and all after it
};

/// (x - mean) / sqrt(variance + epsilon) * gamma + beta with the statistics of each row.
/// Shapes  x [rows..., normalized...] floating, gamma and beta [normalized...] or none.
/// Throws  InvalidArgumentError when gamma or beta do not have the shape of the normalized axes.
/// Source  tf.keras.layers.LayerNormalization
Tensor layer_normalization(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                           const LayerNormOptions& options = {});

}  // namespace distribute::nn
