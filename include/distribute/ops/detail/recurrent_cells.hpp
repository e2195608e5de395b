#pragma once
/// What a recurrent cell does with the products of a step, one row of a batch at a time.

#include <distribute/base/config.hpp>

#include <cstdint>

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

}  // namespace distribute::ops_internal
