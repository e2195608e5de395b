#pragma once
/// Lets a function bring its own gradient.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <vector>

namespace distribute {

/// A value, and a function that turns the gradient of the value into one gradient for each input. A
/// gradient is an empty tensor where the value does not depend on the input.
struct ValueAndGradient {
  Tensor value;
  std::function<std::vector<Tensor>(const Tensor& upstream)> gradient;
};

/// Calls `fn` with the inputs. Tapes then use the gradient that `fn` gives and ignore the
/// operations inside `fn`. That gradient is differentiated itself for higher derivatives, as far as
/// it uses the inputs that `fn` got. Variables that `fn` reads get no gradient, so pass their
/// values as inputs.
///
///   // log(1 + e^x), whose gradient does not overflow
///   Tensor y = custom_gradient([](const std::vector<Tensor>& in) {
///     const Tensor e = exp(in[0]);
///     return ValueAndGradient{log(1 + e), [=](const Tensor& upstream) {
///       return std::vector<Tensor>{upstream * (1 - 1 / (1 + e))};
///     }};
///   }, {x});
///
/// Throws  InvalidArgumentError, while gradients are computed, when there are not as many gradients
///         as inputs.
/// Source  tf.custom_gradient
Tensor custom_gradient(const std::function<ValueAndGradient(const std::vector<Tensor>&)>& fn,
                       const std::vector<Tensor>& inputs);

}  // namespace distribute
