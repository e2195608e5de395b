#pragma once
/// What a recurrent cell does with the products of a step, one row of a batch at a time.

#include <distribute/base/config.hpp>
#include <distribute/ops/recurrent.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::ops_internal {

/// A row of a step forwards, `units` numbers to a block. `gates` [gates units] holds x kernel +
/// bias and then what came out of the gates' functions; `hz` is h recurrent_kernel (+ its bias).
struct CellRow {
  int64_t units;
  float* gates;
  const float *hz, *h, *c;        // of the step before; c for Lstm
  float *next_h, *next_c, *kept;  // kept: of Gru, the last block of hz
};

/// A row of a step backwards: from the gradient of h' (and c', replaced by that of c) to those of
/// the products, dz of x kernel and dhz of h recurrent_kernel, and the part of h's that does not go
/// through them.
struct CellGradientRow {
  int64_t units;
  const float *gates, *h, *c, *kept;
  const float* dh;
  float *dc, *dz, *dhz, *direct;
};

/// Where the activation is tanh and that of the gates sigmoid.
void simple_cell(const CellRow& row);
void lstm_cell(const CellRow& row);
void gru_cell(const CellRow& row);
void simple_cell_gradient(const CellGradientRow& row);
void lstm_cell_gradient(const CellGradientRow& row);
void gru_cell_gradient(const CellGradientRow& row);

/// nn::recurrent of operations that have gradients of their own; operands fit and have one dtype.
nn::RecurrentResult recurrent_steps(const Tensor& x, const nn::RecurrentWeights& weights,
                                    const nn::RecurrentOptions& options, const Tensor& mask,
                                    const std::vector<Tensor>& initial);

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
