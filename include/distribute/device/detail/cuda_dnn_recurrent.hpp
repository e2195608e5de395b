#pragma once
/// Recurrent layers of GPUs on cuDNN: all steps of a sequence in one call.

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
  bool with_bias = false;             // one for each gate; Gru: two, of the inputs and of the state
  std::vector<int32_t> lengths = {};  // steps of each sequence, from 1 on; empty: all
  int64_t gates() const { return cell == CudnnCell::Simple ? 1 : cell == CudnnCell::Lstm ? 4 : 3; }
};

/// Gates of Keras's kernels that lie one behind the other in cuDNN's weights, too.
struct CudnnGates {
  int64_t keras, cudnn, count;  // the first of them, here and there
};
/// Keras and cuDNN have i, f, c, o of an Lstm in one order; of a Gru Keras has z, r, h, and cuDNN
/// r, z, h.
std::vector<CudnnGates> cudnn_gates(CudnnCell cell);

/// Where cuDNN wants weights, in elements: [units, inputs] of each gate, then [units, units] of
/// each gate for the state, then the biases [units] of the gates, for a Gru followed by the
/// state's.
struct CudnnWeights {
  explicit CudnnWeights(const CudnnRecurrentShape& shape);
  int64_t kernel(int64_t gate) const { return gate * units * inputs; }
  int64_t recurrent(int64_t gate) const { return gates * units * inputs + gate * units * units; }
  int64_t bias(int64_t gate) const { return gates * units * (inputs + units) + gate * units; }
  int64_t recurrent_bias(int64_t gate) const { return bias(gates + gate); }
  int64_t inputs, units, gates, count;
};

/// All on one GPU, at addresses that are multiples of 16; work goes to the current stream.
struct CudnnRecurrentInputs {
  Array x, weights;  // weights as CudnnWeights says
  Array h, c;        // [batch, units]; c of an Lstm
};
struct CudnnRecurrent {
  Array y;        // [batch, steps, units]; zeros behind the end of a sequence
  Array h, c;     // after each sequence's last step
  Array reserve;  // what the way back needs, which uses it up
};
/// `with_gradient`: the way back is wanted, too.
/// Throws  UnavailableError without cuDNN; UnimplementedError when it does not take the shape, or
///         has its weights in another order.
CudnnRecurrent cudnn_recurrent(const CudnnRecurrentShape& shape, const CudnnRecurrentInputs& in,
                               bool with_gradient);
struct CudnnRecurrentGradients {
  Array dx, dh, dc;
};
/// dy, dh, dc: of y and of the states after the last step. Adds to `dweights` unless it is null.
CudnnRecurrentGradients cudnn_recurrent_backward(const CudnnRecurrentShape& shape,
                                                 const CudnnRecurrentInputs& in,
                                                 const CudnnRecurrent& forward, const Array& dy,
                                                 const Array& dh, const Array& dc,
                                                 const Array* dweights);

}  // namespace distribute
