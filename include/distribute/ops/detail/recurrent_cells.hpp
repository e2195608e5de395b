#pragma once
/// Computes recurrent cells from the products of a step, one row of a batch at a time.

#include <distribute/base/config.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace distribute::ops_internal {

/// A row of a forward step, in blocks of `units` numbers. `gates` [gates units] first holds x
/// kernel + bias and then the values of the gates; `hz` is h recurrent_kernel (+ its bias).
struct CellRow {
  int64_t units;
  float* gates;
  const float *hz, *h, *c;        // h and c of the step before; c for Lstm
  float *next_h, *next_c, *kept;  // kept: for Gru, the last block of hz
};

/// A row of a backward step. From the gradient of h' (and of c', which that of c replaces) it
/// computes the gradients of the products: dz of x kernel, dhz of h recurrent_kernel, and the part
/// of h's gradient that does not pass through the products.
struct CellGradientRow {
  int64_t units;
  const float *gates, *h, *c, *kept;
  const float* dh;
  float *dc, *dz, *dhz, *direct;
};

/// These compute cells with tanh as activation and sigmoid as activation of the gates.
void simple_cell(const CellRow& row);
void lstm_cell(const CellRow& row);
void gru_cell(const CellRow& row);
void simple_cell_gradient(const CellGradientRow& row);
void lstm_cell_gradient(const CellGradientRow& row);
void gru_cell_gradient(const CellGradientRow& row);

/// Steps of a sequence, the order in which they are read, and what comes out.
struct StepOrder {
  int64_t steps;
  bool return_sequences, go_backwards, zero_output_for_mask;
};
/// Computes the step at a position in the sequence from the states before it.
using NextStep =
    std::function<nn::RecurrentResult(int64_t position, const std::vector<Tensor>& states)>;

/// Computes one step after the other. A masked one keeps the states, and repeats the output before
/// it or gives zeros.
nn::RecurrentResult over_steps(const StepOrder& order, const Tensor& mask,
                               std::vector<Tensor> states, const NextStep& next);
/// Returns zeros of the shape of x; an exported graph computes them, as it takes any batch size.
Tensor zeros_of(const Tensor& x);
/// Returns the step at this position of [batch, steps, ...].
Tensor step_at(const Tensor& x, int64_t position);

/// Returns h and c behind a step of Lstm, from the sums `z` of the products and the c before.
/// Shapes  z [..., 4 units], in the order i, f, c, o -> [..., units] each.
std::vector<Tensor> next_lstm(const Tensor& z, const Tensor& c,
                              const nn::RecurrentOptions& options);

/// Computes nn::recurrent() by operations that have gradients; operands have been checked and have
/// one dtype.
nn::RecurrentResult recurrent_steps(const Tensor& x, const nn::RecurrentWeights& weights,
                                    const nn::RecurrentOptions& options, const Tensor& mask,
                                    const std::vector<Tensor>& initial);

/// Computes nn::recurrent() as one operation of cuDNN, without a second derivative. Arguments are
/// those of recurrent_steps(), with x or a weight on a GPU. The result is empty, and the log says
/// so once, if cuDNN is missing or does not support the layer: another activation, the reset gate
/// before the product, a mask that skips a step before the last one that counts, or a sequence
/// without steps.
/// Blocks  until the mask is computed, because cuDNN needs its lengths on the host. A step that is
///         being recorded cannot wait, so masked layers do not use cuDNN there.
std::optional<nn::RecurrentResult> cudnn_recurrent_layer(const Tensor& x,
                                                         const nn::RecurrentWeights& weights,
                                                         const nn::RecurrentOptions& options,
                                                         const Tensor& mask,
                                                         const std::vector<Tensor>& initial);

}  // namespace distribute::ops_internal
