#pragma once
/// Recurrent layers as recorded operations, step by step: for GPUs, exports and other activations.

#include <distribute/base/config.hpp>
#include <distribute/ops/recurrent.hpp>

#include <vector>

namespace distribute::ops_internal {

/// nn::recurrent of operations that have gradients of their own; operands fit and have one dtype.
nn::RecurrentResult recurrent_steps(const Tensor& x, const nn::RecurrentWeights& weights,
                                    const nn::RecurrentOptions& options, const Tensor& mask,
                                    const std::vector<Tensor>& initial);

}  // namespace distribute::ops_internal
