#pragma once
/// Activation functions, softmax, and the cross entropies that are computed from logits.

#include <distribute/base/config.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/tensor/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

namespace distribute::nn {

/// Gives max(x, 0).
/// Source  tf.nn.relu and so on
Tensor relu(const Tensor& x);
Tensor relu6(const Tensor& x);
/// Gives max(x, alpha x), with alpha 0.2 as in tf.nn.leaky_relu.
Tensor leaky_relu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, float alpha);
/// Gives x, and alpha (exp(x) - 1) below 0; alpha is 1 unless it is given.
Tensor elu(const Tensor& x);
Tensor elu(const Tensor& x, double alpha);
Tensor selu(const Tensor& x);
/// Gives the exact form, x Phi(x).
Tensor gelu(const Tensor& x);
/// Gives the approximation with tanh: tf.nn.gelu(x, approximate=True).
Tensor gelu_approximate(const Tensor& x);
Tensor softplus(const Tensor& x);
/// Gives x sigmoid(x).
Tensor silu(const Tensor& x);
using distribute::sigmoid;
using distribute::tanh;
/// Gives x itself; Keras's "linear".
Tensor linear(const Tensor& x);
/// Gives relu6(x + 3) / 6, and x times that.
/// Source  tf.keras.activations.hard_sigmoid, hard_silu (also called hard_swish)
Tensor hard_sigmoid(const Tensor& x);
Tensor hard_silu(const Tensor& x);
/// Gives x tanh(softplus(x)).
/// Source  tf.keras.activations.mish; Misra 2019
Tensor mish(const Tensor& x);
/// Gives x / (1 + |x|).
Tensor softsign(const Tensor& x);
/// Gives exp(x), under Keras's name.
Tensor exponential(const Tensor& x);
/// Gives max(x, 0) + alpha (exp(min(x, 0) / alpha) - 1); alpha is 1 unless it is given. Its slope
/// at 0 is 2, as in Keras 3.15, where elu's is 1.
Tensor celu(const Tensor& x);
Tensor celu(const Tensor& x, double alpha);
/// Limits x to [-1, 1].
Tensor hard_tanh(const Tensor& x);
/// Gives x - tanh(x).
Tensor tanh_shrink(const Tensor& x);
/// Moves x towards 0 by the threshold, and gives 0 where |x| is not above it; the hard form keeps
/// values above it. The threshold is 0.5 unless it is given.
Tensor soft_shrink(const Tensor& x);
Tensor soft_shrink(const Tensor& x, double threshold);
Tensor hard_shrink(const Tensor& x);
Tensor hard_shrink(const Tensor& x, double threshold);
/// Gives x above the threshold, and default_value elsewhere.
Tensor threshold(const Tensor& x, double threshold, double default_value);
/// Gives log(sigmoid(x)), safe for large values.
Tensor log_sigmoid(const Tensor& x);
/// Gives (x + sqrt(x^2 + b)) / 2; b is 4 unless it is given.
Tensor squareplus(const Tensor& x);
Tensor squareplus(const Tensor& x, double b);
/// Gives (x + 1) / 2, limited to [0, 1]; and the function with this slope.
Tensor sparse_sigmoid(const Tensor& x);
Tensor sparse_plus(const Tensor& x);

/// Gives exp(x) / sum(exp(x)) along `axis` (the last one by default), safe for large values.
/// Shapes  logits of rank >= 1 -> the same shape. Floating dtypes.
/// Source  tf.nn.softmax
Tensor softmax(const Tensor& logits);
Tensor softmax(const Tensor& logits, int axis);
/// Splits x into halves a and b along `axis` (the last one by default), and gives a sigmoid(b).
/// Throws  InvalidArgumentError for an axis of odd size.
/// Source  tf.keras.activations.glu; Dauphin et al. 2017
Tensor glu(const Tensor& x);
Tensor glu(const Tensor& x, int axis);
/// Gives max(x - t, 0) along `axis` (the last one by default) with Keras's threshold t.
/// Source  tf.keras.activations.sparsemax; Martins et al. 2016
Tensor sparsemax(const Tensor& x);
Tensor sparsemax(const Tensor& x, int axis);
/// Gives the logarithm of softmax.
/// Source  tf.nn.log_softmax
Tensor log_softmax(const Tensor& logits);
Tensor log_softmax(const Tensor& logits, int axis);

namespace nn_internal {

using PlainActivation = Tensor (*)(const Tensor&);

// clang-format off
/// The activations that Keras knows by name; saved models use the first name of a function.
inline constexpr std::pair<std::string_view, PlainActivation> kActivations[] = {
    {"linear", linear}, {"relu", relu}, {"relu6", relu6}, {"leaky_relu", leaky_relu}, {"elu", elu},
    {"selu", selu}, {"gelu", gelu}, {"softplus", softplus}, {"silu", silu}, {"swish", silu},
    {"sigmoid", sigmoid}, {"tanh", tanh}, {"softmax", softmax}, {"log_softmax", log_softmax},
    {"hard_sigmoid", hard_sigmoid}, {"hard_silu", hard_silu}, {"hard_swish", hard_silu},
    {"mish", mish}, {"softsign", softsign}, {"exponential", exponential}, {"celu", celu},
    {"hard_tanh", hard_tanh}, {"tanh_shrink", tanh_shrink}, {"soft_shrink", soft_shrink},
    {"hard_shrink", hard_shrink}, {"log_sigmoid", log_sigmoid}, {"squareplus", squareplus},
    {"sparse_sigmoid", sparse_sigmoid}, {"sparse_plus", sparse_plus}, {"glu", glu},
    {"sparsemax", sparsemax}};
// clang-format on

/// No constant expression can call it, so that compilers show its name for a wrong one.
inline PlainActivation no_activation_has_this_name() { return nullptr; }

}  // namespace nn_internal

/// Holds a layer's activation: a function such as nn::relu, a lambda without captures, or the name
/// that Keras has for one, "relu". A name stands in the program, where the compiler looks it up and
/// refuses a wrong one; activations::get() takes one that is known at run time. nullptr: none.
/// Source  the argument `activation` of tf.keras.layers
class ActivationFunction {
 public:
  using Function = nn_internal::PlainActivation;

  constexpr ActivationFunction(std::nullptr_t = nullptr) {}                 // NOLINT: implicit
  constexpr ActivationFunction(Function function) : function_(function) {}  // NOLINT: implicit
  template <std::convertible_to<Function> Lambda>
  constexpr ActivationFunction(Lambda lambda) : function_(lambda) {}         // NOLINT: implicit
  consteval ActivationFunction(const char* name) : function_(find(name)) {}  // NOLINT: implicit

  /// Calls it, or tells whether there is one.
  constexpr operator Function() const { return function_; }  // NOLINT: implicit

 private:
  static constexpr Function find(std::string_view name) {
    for (const auto& [known, function] : nn_internal::kActivations)
      if (known == name) return function;
    return nn_internal::no_activation_has_this_name();
  }

  Function function_ = nullptr;
};

inline constexpr ActivationFunction swish = silu;  // TensorFlow's other name of silu

/// Gives -sum(labels * log softmax(logits)) over the last axis. With `label_smoothing` s the labels
/// become labels (1 - s) + s / classes. The gradient is the derivative for any labels: for those
/// that do not sum to 1, TensorFlow's takes their sum for 1. A class whose label is 0 adds nothing,
/// at -infinity too, where TensorFlow's loss is NaN. Shapes  labels and logits [batch..., classes]
/// -> [batch...]. Throws  InvalidArgumentError for different shapes or dtypes, or s outside [0, 1].
/// Source  tf.nn.softmax_cross_entropy_with_logits; smoothing as in
///         tf.keras.losses.CategoricalCrossentropy
Tensor softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                         float label_smoothing = 0);

/// Computes the same for labels that are class numbers.
/// Shapes  labels int32, int64 or uint8 [batch...], logits [batch..., classes] -> [batch...].
/// Throws  InvalidArgumentError with position, value and valid range of a label outside [0,
///         classes). Labels on a GPU are not checked; the loss of a wrong one is NaN, as in
///         TensorFlow.
/// Source  tf.nn.sparse_softmax_cross_entropy_with_logits
Tensor sparse_softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                float label_smoothing = 0);

/// Computes the cross entropy of independent yes-or-no classes, element by element.
/// Shapes  labels and logits equal -> the same shape.
/// Source  tf.nn.sigmoid_cross_entropy_with_logits
Tensor sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits);

}  // namespace distribute::nn
