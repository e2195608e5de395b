#pragma once
/// Activation functions, softmax, and the cross entropies that are computed with it.

#include <distribute/base/config.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// What a layer takes as its activation: a plain function, such as nn::relu.
using ActivationFunction = Tensor (*)(const Tensor&);

/// Source  tf.nn.relu and so on
Tensor relu(const Tensor& x);
Tensor relu6(const Tensor& x);
/// max(x, alpha x), alpha 0.2 as in tf.nn.leaky_relu.
Tensor leaky_relu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, float alpha);
Tensor elu(const Tensor& x);
Tensor selu(const Tensor& x);
/// The exact form, x Phi(x).
Tensor gelu(const Tensor& x);
/// The form with tanh: tf.nn.gelu(x, approximate=True).
Tensor gelu_approximate(const Tensor& x);
Tensor softplus(const Tensor& x);
/// x sigmoid(x), also called swish.
Tensor silu(const Tensor& x);
using distribute::sigmoid;
using distribute::tanh;
/// Keras's "linear".
Tensor linear(const Tensor& x);
/// relu6(x + 3) / 6, and x times that.
/// Source  tf.keras.activations.hard_sigmoid, hard_silu (also called hard_swish)
Tensor hard_sigmoid(const Tensor& x);
Tensor hard_silu(const Tensor& x);
/// x tanh(softplus(x)).
/// Source  tf.keras.activations.mish; Misra 2019
Tensor mish(const Tensor& x);
/// x / (1 + |x|).
Tensor softsign(const Tensor& x);
/// exp(x), under Keras's name.
Tensor exponential(const Tensor& x);
/// The values of elu with an alpha of 1; its slope at 0 is 2, as in Keras 3.15, where elu's is 1.
Tensor celu(const Tensor& x);
/// x, between -1 and 1.
Tensor hard_tanh(const Tensor& x);
/// x - tanh(x).
Tensor tanh_shrink(const Tensor& x);
/// Nearer to 0 by 0.5, and 0 within [-0.5, 0.5]; the hard form keeps the others as they are.
Tensor soft_shrink(const Tensor& x);
Tensor hard_shrink(const Tensor& x);
/// log(sigmoid(x)), safe for large values.
Tensor log_sigmoid(const Tensor& x);
/// (x + sqrt(x^2 + 4)) / 2.
Tensor squareplus(const Tensor& x);
/// (x + 1) / 2, between 0 and 1; and the function with this slope.
Tensor sparse_sigmoid(const Tensor& x);
Tensor sparse_plus(const Tensor& x);

/// exp(x) / sum(exp(x)) along `axis` (the last one by default), safe for large values.
/// Shapes  logits of rank >= 1 -> the same shape. Floating dtypes.
/// Source  tf.nn.softmax
Tensor softmax(const Tensor& logits);
Tensor softmax(const Tensor& logits, int axis);
/// Source  tf.nn.log_softmax
Tensor log_softmax(const Tensor& logits);
Tensor log_softmax(const Tensor& logits, int axis);

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
