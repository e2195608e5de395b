#pragma once
/// Activation checkpointing: a part of a model is computed again on the way back.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <vector>

namespace distribute {

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
