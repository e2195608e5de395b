#pragma once
/// Functions with a gradient of their own.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <vector>

namespace distribute {

/// A value, and the gradients of the inputs as a function of the gradient of the value: one for
/// each input, none where it does not depend on it.
struct ValueAndGradient {
  Tensor value;
  std::function<std::vector<Tensor>(const Tensor& upstream)> gradient;
};

/// Calls `fn` with the inputs and lets tapes take the gradient that it gives instead of that of its
/// operations. It is differentiated itself for higher derivatives, as far as it uses the inputs
/// that `fn` got. Variables that `fn` reads get no gradient: pass their values as inputs.
///
///   // log(1 + e^x), whose gradient does not overflow
///   Tensor y = custom_gradient([](const std::vector<Tensor>& in) {
///     const Tensor e = exp(in[0]);
///     return ValueAndGradient{log(1 + e), [=](const Tensor& upstream) {
///       return std::vector<Tensor>{upstream * (1 - 1 / (1 + e))};
///     }};
///   }, {x});
///
/// Throws  InvalidArgumentError, on the way back, for another number of gradients than of inputs.
/// Source  tf.custom_gradient
Tensor custom_gradient(const std::function<ValueAndGradient(const std::vector<Tensor>&)>& fn,
                       const std::vector<Tensor>& inputs);

}  // namespace distribute
