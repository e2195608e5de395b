#pragma once
/// Recurrent layers on a GPU's cuDNN.

#include <distribute/base/config.hpp>
#include <distribute/ops/recurrent.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute::ops_internal {

/// nn::recurrent as one operation of cuDNN, without a second derivative; arguments as
/// recurrent_steps has them, x or a weight on a GPU. Nothing, and once a line in the log, where
/// cuDNN is missing or does not compute this: another activation, the reset gate before the
/// product, a mask with a step left out before the last one that counts, a sequence without steps.
/// Waits  for the mask, whose lengths cuDNN wants on the host; a step that is being recorded may
///        not wait, so that masked layers are not cuDNN's there.
std::optional<nn::RecurrentResult> cudnn_recurrent_layer(const Tensor& x,
                                                         const nn::RecurrentWeights& weights,
                                                         const nn::RecurrentOptions& options,
                                                         const Tensor& mask,
                                                         const std::vector<Tensor>& initial);

}  // namespace distribute::ops_internal
