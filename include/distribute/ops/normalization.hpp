#pragma once
/// Batch and layer normalization.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <initializer_list>
#include <span>

namespace distribute::nn {

/// Gives (x - mean) / sqrt(variance + epsilon) * scale + offset; `offset` and `scale` may be empty.
/// Gradients flow to all five, so mean and variance may come from moments of several replicas.
/// Shapes  x [..., channels], the others [channels] (or as many elements, such as [1, 1,
///         channels]).
/// Source  tf.nn.batch_normalization
Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                           const Tensor& offset, const Tensor& scale, float epsilon,
                           Epilogue epilogue = Epilogue::None);

struct FusedBatchNormOptions {  // options of fused_batch_norm()
  double epsilon = 1e-3;
  bool training = true;
  Tensor mean = {}, variance = {};  // [channels], read when not training
  Tensor residual = {};             // same shape as x, added before the epilogue
  Epilogue epilogue = Epilogue::None;
  /// For training with several replicas: gives the sum of a float32 vector over the replicas. Mean
  /// and variance are then those of all replicas' rows, and no gradient flows through these two
  /// results. It is called once in the forward and once in the backward pass. Empty: only this
  /// replica's rows count.
  std::function<Tensor(const Tensor&)> sum_over_replicas = {};
};

struct FusedBatchNorm {  // result of fused_batch_norm()
  Tensor y;
  Tensor batch_mean;            // [channels]; the given mean when not training
  Tensor batch_variance;        // [channels], divided by n as Keras 3 does (not n - 1)
  bool has_statistics = false;  // false when not training or for an empty batch: moving statistics
                                // must then stay as they are
};

/// Gives epilogue(normalized x + residual), with statistics over all axes but the last. x may be in
/// a blocked image layout, which y keeps. bfloat16 is read and written; everything in between is
/// float32. An empty batch gives an empty y, mean 0 and variance 0.
/// Shapes  x [..., channels] floating, scale and offset [channels] or none; the statistics are
///         float32.
/// Throws  InvalidArgumentError for a residual of another shape or dtype than x.
/// Source  tf.compat.v1.nn.fused_batch_norm; variance as keras.layers.BatchNormalization
FusedBatchNorm fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                const FusedBatchNormOptions& options = {});

struct Moments {  // mean and variance
  Tensor mean, variance;
};

/// Gives mean and variance (divided by n) over `axes`; NaN where there are no elements. Fast for
/// all axes but the last.
/// Throws  InvalidArgumentError for no axes.
/// Source  tf.nn.moments
Moments moments(const Tensor& x, std::span<const int> axes, bool keepdims = false);
inline Moments moments(const Tensor& x, std::initializer_list<int> axes, bool keepdims = false) {
  return moments(x, std::span(axes.begin(), axes.size()), keepdims);
}

struct LayerNormOptions {  // options of layer_normalization()
  double epsilon = 1e-3;
  int begin_axis = -1;  // normalized over this axis and all after it
};

/// Gives (x - mean) / sqrt(variance + epsilon) * gamma + beta with the statistics of each row.
/// Shapes  x [rows..., normalized...] floating, gamma and beta [normalized...] or none.
/// Throws  InvalidArgumentError when gamma or beta do not have the shape of the normalized axes.
/// Source  tf.keras.layers.LayerNormalization
Tensor layer_normalization(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                           const LayerNormOptions& options = {});

}  // namespace distribute::nn
