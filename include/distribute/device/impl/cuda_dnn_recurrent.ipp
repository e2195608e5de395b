#pragma once
#include <distribute/device/detail/cuda_dnn_recurrent.hpp>

namespace distribute {

DISTRIBUTE_INLINE std::vector<CudnnGates> cudnn_gates(CudnnCell cell) {
  if (cell == CudnnCell::Gru) return {{0, 1, 1}, {1, 0, 1}, {2, 2, 1}};
  return {{0, 0, cell == CudnnCell::Lstm ? 4 : 1}};
}

DISTRIBUTE_INLINE CudnnWeights::CudnnWeights(const CudnnRecurrentShape& shape)
    : inputs(shape.inputs), units(shape.units), gates(shape.gates()), count(0) {
  const int64_t biases = !shape.with_bias ? 0 : shape.cell == CudnnCell::Gru ? 2 : 1;
  count = gates * units * (inputs + units + biases);
}

}  // namespace distribute

#if DISTRIBUTE_HAS_CUDNN
#include <distribute/base/error.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>
#include <distribute/device/detail/cuda_dnn_plans.hpp>
#include <distribute/device/detail/cuda_dnn_rnn.hpp>
#include <distribute/device/placement.hpp>

#include <algorithm>

namespace distribute {

namespace cudnn_internal {

DISTRIBUTE_INLINE cudnnRNNMode_t mode_of(CudnnCell cell) {
  return cell == CudnnCell::Lstm ? CUDNN_LSTM : cell == CudnnCell::Gru ? CUDNN_GRU : CUDNN_RNN_TANH;
}

DISTRIBUTE_INLINE cudnnRNNBiasMode_t bias_mode_of(const CudnnRecurrentShape& s) {
  if (!s.with_bias) return CUDNN_RNN_NO_BIAS;
  return s.cell == CudnnCell::Gru ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_SINGLE_INP_BIAS;
}

DISTRIBUTE_INLINE cudnnMathType_t math_of(DType dtype) {
  if (dtype != DType::Float32) return CUDNN_TENSOR_OP_MATH;
  return config::experimental::tensor_float_32_execution_enabled() ? CUDNN_DEFAULT_MATH
                                                                   : CUDNN_FMA_MATH;
}

DISTRIBUTE_INLINE RnnDescriptors::RnnDescriptors(const CudnnRecurrentShape& s,
                                                 cudnnHandle_t handle) {
  const CudnnTable& t = cudnn();
  const cudnnDataType_t type = data_type_of(s.dtype);
  check_cudnn(t.set_dropout(dropout.native(), handle, 0, nullptr, 0, 0),
              "cudnnSetDropoutDescriptor");
  check_cudnn(t.set_rnn(rnn.native(), CUDNN_RNN_ALGO_STANDARD, mode_of(s.cell), bias_mode_of(s),
                        CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, type, CUDNN_DATA_FLOAT,
                        math_of(s.dtype), int32_t(s.inputs), int32_t(s.units), int32_t(s.units), 1,
                        dropout.native(), CUDNN_RNN_PADDED_IO_ENABLED),
              "cudnnSetRNNDescriptor_v8");
  const std::vector<int32_t> all(size_t(s.batch), int32_t(s.steps));
  const int32_t* lengths = s.lengths.empty() ? all.data() : s.lengths.data();
  double zero = 0;  // has the bytes of every dtype's zero
  const auto sequence = [&](cudnnRNNDataDescriptor_t d, int64_t width) {
    check_cudnn(t.set_rnn_data(d, type, CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED, int(s.steps),
                               int(s.batch), int(width), lengths, &zero),
                "cudnnSetRNNDataDescriptor");
  };
  sequence(x.native(), s.inputs);
  sequence(y.native(), s.units);
  const int dims[] = {1, int(s.batch), int(s.units)}, strides[] = {dims[1] * dims[2], dims[2], 1};
  check_cudnn(t.set_tensor(state.native(), type, 3, dims, strides), "cudnnSetTensorNdDescriptor");
}

DISTRIBUTE_INLINE void check_cudnn_weights(const CudnnRecurrentShape& s, cudnnHandle_t handle,
                                           const RnnDescriptors& d) {
  const CudnnTable& t = cudnn();
  const CudnnWeights wanted(s);
  size_t bytes = 0;
  check_cudnn(t.rnn_weight_bytes(handle, d.rnn.native(), &bytes), "cudnnGetRNNWeightSpaceSize");
  bool same = int64_t(bytes) == wanted.count * size_of(s.dtype);
  const RnnHandle<cudnnTensorDescriptor_t> matrix, vector;
  char* const base = reinterpret_cast<char*>(uintptr_t{1} << 32);  // an address that is never read
  const auto place = [&](const void* p) {
    return p ? (static_cast<const char*>(p) - base) / size_of(s.dtype) : -1;
  };
  // linear layers of the inputs, then of the state
  for (int64_t i = 0; i < 2 * wanted.gates; ++i) {
    void *m = nullptr, *b = nullptr;
    check_cudnn(t.rnn_weights(handle, d.rnn.native(), 0, bytes, base, int32_t(i), matrix.native(),
                              &m, vector.native(), &b),
                "cudnnGetRNNWeightParams");
    const bool of_state = i >= wanted.gates;
    const int64_t gate = i % wanted.gates;
    same &= place(m) == (of_state ? wanted.recurrent(gate) : wanted.kernel(gate));
    const bool has_bias = s.with_bias && (!of_state || s.cell == CudnnCell::Gru);
    same &= place(b) == (!has_bias  ? -1
                         : of_state ? wanted.recurrent_bias(gate)
                                    : wanted.bias(gate));
  }
  if (!same) throw UnimplementedError("cuDNN has the weights of a recurrent layer elsewhere");
}

/// Allocates the workspace, which belongs to the call; the reserve is returned in `out`.
DISTRIBUTE_INLINE Array rnn_space(cudnnHandle_t handle, const RnnDescriptors& d,
                                  cudnnForwardMode_t mode, Device device, Array& reserve) {
  size_t work = 0, kept = 0;
  check_cudnn(cudnn().rnn_temp_bytes(handle, d.rnn.native(), mode, d.x.native(), &work, &kept),
              "cudnnGetRNNTempSpaceSizes");
  if (!reserve.buffer && kept > 0) reserve = make_array(int64_t(kept), device);
  return make_array(std::max<int64_t>(int64_t(work), 1), device);
}

DISTRIBUTE_INLINE void* pointer_of(const Array& array) {
  return array.buffer ? array.bytes() : nullptr;
}
DISTRIBUTE_INLINE size_t bytes_of(const Array& array) {
  return array.buffer ? size_t(array.buffer->bytes()) : 0;
}

}  // namespace cudnn_internal

DISTRIBUTE_INLINE CudnnRecurrent cudnn_recurrent(const CudnnRecurrentShape& s,
                                                 const CudnnRecurrentInputs& in,
                                                 bool with_gradient) {
  using namespace cudnn_internal;
  const Device device = in.x.buffer->device();
  const int64_t element = size_of(s.dtype);
  const auto state = [&] { return make_array(s.batch * s.units * element, device); };
  CudnnRecurrent result{make_array(s.batch * s.steps * s.units * element, device), state(), {}, {}};
  if (s.cell == CudnnCell::Lstm) result.c = state();
  with_cudnn_handle(device, [&](cudnnHandle_t handle) {
    const RnnDescriptors d(s, handle);
    check_cudnn_weights(s, handle, d);
    // The lengths on the GPU (null) are not needed: since cuDNN 8.9.1 the descriptors' lengths are
    // used.
    const auto mode = with_gradient ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE;
    const Array work = rnn_space(handle, d, mode, device, result.reserve);
    check_cudnn(cudnn().rnn_forward(
                    handle, d.rnn.native(), mode, nullptr, d.x.native(), in.x.bytes(), d.y.native(),
                    result.y.bytes(), d.state.native(), in.h.bytes(), result.h.bytes(),
                    d.state.native(), pointer_of(in.c), pointer_of(result.c),
                    size_t(CudnnWeights(s).count * element), in.weights.bytes(), bytes_of(work),
                    work.bytes(), bytes_of(result.reserve), pointer_of(result.reserve)),
                "cudnnRNNForward");
  });
  return result;
}

DISTRIBUTE_INLINE CudnnRecurrentGradients cudnn_recurrent_backward(
    const CudnnRecurrentShape& s, const CudnnRecurrentInputs& in, const CudnnRecurrent& forward,
    const Array& dy, const Array& dh, const Array& dc, const Array* dweights) {
  using namespace cudnn_internal;
  const Device device = in.x.buffer->device();
  const int64_t element = size_of(s.dtype);
  const auto state = [&] { return make_array(s.batch * s.units * element, device); };
  CudnnRecurrentGradients g{
      make_array(s.batch * s.steps * s.inputs * element, device), state(), {}};
  if (s.cell == CudnnCell::Lstm) g.dc = state();
  const size_t bytes = size_t(CudnnWeights(s).count * element);
  with_cudnn_handle(device, [&](cudnnHandle_t handle) {
    const RnnDescriptors d(s, handle);
    Array reserve = forward.reserve;
    const Array work = rnn_space(handle, d, CUDNN_FWD_MODE_TRAINING, device, reserve);
    check_cudnn(cudnn().rnn_backward_data(
                    handle, d.rnn.native(), nullptr, d.y.native(), forward.y.bytes(), dy.bytes(),
                    d.x.native(), g.dx.bytes(), d.state.native(), in.h.bytes(), dh.bytes(),
                    g.dh.bytes(), d.state.native(), pointer_of(in.c), pointer_of(dc),
                    pointer_of(g.dc), bytes, in.weights.bytes(), bytes_of(work), work.bytes(),
                    bytes_of(reserve), pointer_of(reserve)),
                "cudnnRNNBackwardData_v8");
    if (!dweights) return;
    check_cudnn(cudnn().rnn_backward_weights(handle, d.rnn.native(), CUDNN_WGRAD_MODE_ADD, nullptr,
                                             d.x.native(), in.x.bytes(), d.state.native(),
                                             in.h.bytes(), d.y.native(), forward.y.bytes(), bytes,
                                             dweights->bytes(), bytes_of(work), work.bytes(),
                                             bytes_of(reserve), pointer_of(reserve)),
                "cudnnRNNBackwardWeights_v8");
  });
  return g;
}

}  // namespace distribute
#endif
