#pragma once
/// Activation functions; all but the ones with a parameter have the type ActivationFunction.

#include <distribute/base/config.hpp>
#include <distribute/ops/unary.hpp>
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

}  // namespace distribute::nn
