#pragma once
/// Functions applied to slices, and functions whose values backpropagation computes again.

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
/// The same over tensors whose first axes are equal.
Tensor map_fn(const std::function<Tensor(const std::vector<Tensor>& slices)>& fn,
              const std::vector<Tensor>& elems);

/// state = fn(state, slice) for one slice after the other: all states, stacked. Without an
/// initializer the first slice is the first state.
/// Throws  InvalidArgumentError for no slices.
/// Source  tf.scan
Tensor scan(const std::function<Tensor(const Tensor& state, const Tensor& slice)>& fn,
            const Tensor& elems, const Tensor& initializer = {});

/// fn(inputs) of which tapes keep the inputs alone; the way back calls `fn` a second time and
/// differentiates that. Trades time for memory. Inputs and trainable variables that `fn` reads get
/// the gradients that they would get without; dropout draws the same masks again. What else `fn`
/// does, it does twice: the moving averages of BatchNormalization move twice, as in TensorFlow.
/// First derivatives alone. `fn` is kept for the second call, when the function that made it may
/// have ended: it keeps that function's variables by value.
///
///   Tensor h = recompute_grad([&block](const auto& in) { return block(in[0]); }, {x});
///
/// Source  tf.recompute_grad; Chen et al. 2016
Tensor recompute_grad(const std::function<Tensor(const std::vector<Tensor>&)>& fn,
                      const std::vector<Tensor>& inputs);

}  // namespace distribute
