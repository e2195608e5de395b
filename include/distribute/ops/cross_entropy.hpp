#pragma once
/// Cross entropy of logits, fused with softmax or sigmoid.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// -sum(labels * log softmax(logits)) over the last axis. With `label_smoothing` s the labels are
/// labels (1 - s) + s / classes.
/// Shapes  labels and logits [batch..., classes] -> [batch...].
/// Throws  InvalidArgumentError for different shapes or dtypes, or s outside [0, 1].
/// Source  tf.nn.softmax_cross_entropy_with_logits; smoothing as in
///         tf.keras.losses.CategoricalCrossentropy
Tensor softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                         float label_smoothing = 0);

/// The same for class numbers.
/// Shapes  labels int32, int64 or uint8 [batch...], logits [batch..., classes] -> [batch...].
/// Throws  InvalidArgumentError with position, value and valid range of a label outside
///         [0, classes); labels on a GPU are not checked, their loss is NaN as in TensorFlow.
/// Source  tf.nn.sparse_softmax_cross_entropy_with_logits
Tensor sparse_softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                float label_smoothing = 0);

/// Independent yes-or-no classes, element by element.
/// Shapes  labels and logits equal -> the same shape.
/// Source  tf.nn.sigmoid_cross_entropy_with_logits
Tensor sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits);

}  // namespace distribute::nn
