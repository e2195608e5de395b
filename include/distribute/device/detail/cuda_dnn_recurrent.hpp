#pragma once
/// Recurrent layers on GPUs by cuDNN: one call computes all steps of a sequence.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>
#include <vector>

namespace distribute {

enum class CudnnCell : uint8_t { Simple, Lstm, Gru };  // with tanh and sigmoid; Gru: reset after

/// One layer in one direction over x [batch, steps, inputs]; float32, bfloat16, float16.
struct CudnnRecurrentShape {
  CudnnCell cell = CudnnCell::Lstm;
  DType dtype = DType::Float32;
  int64_t batch = 0, steps = 0, inputs = 0, units = 0;
  bool with_bias = false;             // one bias for each gate; Gru has two, for inputs and state
  std::vector<int32_t> lengths = {};  // number of steps of each sequence, 1 or more; empty: all
  int64_t gates() const { return cell == CudnnCell::Simple ? 1 : cell == CudnnCell::Lstm ? 4 : 3; }
};

/// Gates that are neighbours both in Keras's kernels and in cuDNN's weights.
struct CudnnGates {
  int64_t keras, cudnn, count;  // index of the first gate in either order, number of gates
};
/// An Lstm's gates have one order in Keras and cuDNN: i, f, c, o. A Gru's gates are z, r, h in
/// Keras and r, z, h in cuDNN.
std::vector<CudnnGates> cudnn_gates(CudnnCell cell);

/// Offsets of weights in cuDNN's memory, in elements: [units, inputs] of each gate, then [units,
/// units] of each gate for the state, then the biases [units] of the gates; for a Gru also the
/// biases of the state.
struct CudnnWeights {
  explicit CudnnWeights(const CudnnRecurrentShape& shape);
  int64_t kernel(int64_t gate) const { return gate * units * inputs; }
  int64_t recurrent(int64_t gate) const { return gates * units * inputs + gate * units * units; }
  int64_t bias(int64_t gate) const { return gates * units * (inputs + units) + gate * units; }
  int64_t recurrent_bias(int64_t gate) const { return bias(gates + gate); }
  int64_t inputs, units, gates, count;
};

/// Arrays on one GPU, at addresses that are multiples of 16. Work goes to the current stream.
struct CudnnRecurrentInputs {
  Array x, weights;  // weights in the order of CudnnWeights
  Array h, c;        // [batch, units]; c is used by an Lstm alone
};
struct CudnnRecurrent {
  Array y;        // [batch, steps, units]; zeros behind the end of a sequence
  Array h, c;     // after each sequence's last step
  Array reserve;  // data for the gradient, whose computation overwrites it
};
/// `with_gradient` requires that the gradient can be computed.
/// Throws  UnavailableError without cuDNN; UnimplementedError when cuDNN does not support the
///         shape, or keeps its weights in another order.
CudnnRecurrent cudnn_recurrent(const CudnnRecurrentShape& shape, const CudnnRecurrentInputs& in,
                               bool with_gradient);
struct CudnnRecurrentGradients {
  Array dx, dh, dc;
};
/// Computes gradients from dy, and from dh and dc of the states after the last step. Adds to
/// `dweights` unless it is null.
CudnnRecurrentGradients cudnn_recurrent_backward(const CudnnRecurrentShape& shape,
                                                 const CudnnRecurrentInputs& in,
                                                 const CudnnRecurrent& forward, const Array& dy,
                                                 const Array& dh, const Array& dc,
                                                 const Array* dweights);

}  // namespace distribute
