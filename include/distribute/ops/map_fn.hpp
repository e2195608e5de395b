#pragma once
/// Applies functions to slices, and recomputes the values of functions during backpropagation.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <vector>

namespace distribute {

/// Calls fn for each slice, and stacks the results.
/// Shapes  elems [n, ...] -> [n, shape of fn's result].
/// Throws  InvalidArgumentError for no slices.
/// Source  tf.map_fn
Tensor map_fn(const std::function<Tensor(const Tensor& slice)>& fn, const Tensor& elems);
/// Calls `fn` with slices of several tensors, whose first axes are equal, and stacks the results.
Tensor map_fn(const std::function<Tensor(const std::vector<Tensor>& slices)>& fn,
              const std::vector<Tensor>& elems);

/// Computes state = fn(state, slice) for one slice after the other, and gives all states, stacked.
/// Without an initializer the first slice is the first state.
/// Throws  InvalidArgumentError for no slices.
/// Source  tf.scan
Tensor scan(const std::function<Tensor(const Tensor& state, const Tensor& slice)>& fn,
            const Tensor& elems, const Tensor& initializer = {});

/// Gives fn(inputs) in such a way that tapes keep only the inputs: the backward pass calls `fn`
/// again and differentiates that call. It trades time for memory. Inputs and trainable variables
/// that `fn` reads get their usual gradients, and dropout draws the same masks again. Other effects
/// of `fn` happen twice: the moving averages of BatchNormalization are updated twice, as in
/// TensorFlow. Only first derivatives exist. The second call may happen after the function that
/// made `fn` has returned, so `fn` must hold local variables by value.
///
///   Tensor h = recompute_grad([&block](const auto& in) { return block(in[0]); }, {x});
///
/// Source  tf.recompute_grad; Chen et al. 2016
Tensor recompute_grad(const std::function<Tensor(const std::vector<Tensor>&)>& fn,
                      const std::vector<Tensor>& inputs);

}  // namespace distribute
