#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/detail/log_once.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/cuda_dnn_recurrent.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/detail/recurrent_cells.hpp>
#include <distribute/ops/detail/strided_copy.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace distribute::ops_internal {

DISTRIBUTE_INLINE CudnnCell cudnn_cell(nn::RecurrentCell cell) {
  return cell == nn::RecurrentCell::Lstm  ? CudnnCell::Lstm
         : cell == nn::RecurrentCell::Gru ? CudnnCell::Gru
                                          : CudnnCell::Simple;
}

/// Copies the weights between Keras's tensors and cuDNN's weight space, in both directions.
struct CudnnWeightCopy {
  const CudnnRecurrentShape& shape;
  char* space;  // cuDNN's weight space
  bool back;
  Device device;

  void all(const Tensor& kernel, const Tensor& recurrent, const Tensor& bias) const;
  void matrix(const Tensor& keras, int64_t inputs, const CudnnGates& gates, int64_t at) const;
  void vector(const char* keras, const CudnnGates& gates, int64_t at) const;
  void copy(std::vector<CopyAxis> axes, const char* keras, int64_t at) const;
};

/// Copies along `axes`, from Keras's elements to cuDNN's.
DISTRIBUTE_INLINE void CudnnWeightCopy::copy(std::vector<CopyAxis> axes, const char* keras,
                                             int64_t at) const {
  const int64_t bytes = size_of(shape.dtype);
  char* const place = space + at * bytes;
  if (back)
    for (CopyAxis& axis : axes) std::swap(axis.from_step, axis.to_step);
  const char* from = back ? place : keras;
  char* to = back ? const_cast<char*>(keras) : place;
  gpu_strided_copy(device, axes, from, to, bytes);
}

/// Copies a matrix: Keras has [inputs, gates units], cuDNN [gates units, inputs].
DISTRIBUTE_INLINE void CudnnWeightCopy::matrix(const Tensor& keras, int64_t inputs,
                                               const CudnnGates& g, int64_t at) const {
  if (inputs == 0) return;
  const int64_t wide = shape.gates() * shape.units, columns = g.count * shape.units;
  copy({{columns, 1, inputs}, {inputs, wide, 1}},
       keras.array().bytes() + g.keras * shape.units * size_of(shape.dtype), at);
}

DISTRIBUTE_INLINE void CudnnWeightCopy::vector(const char* keras, const CudnnGates& g,
                                               int64_t at) const {
  copy({{g.count * shape.units, 1, 1}}, keras + g.keras * shape.units * size_of(shape.dtype), at);
}

DISTRIBUTE_INLINE void CudnnWeightCopy::all(const Tensor& kernel, const Tensor& recurrent,
                                            const Tensor& bias) const {
  const CudnnWeights places(shape);
  for (const CudnnGates& g : cudnn_gates(shape.cell)) {
    matrix(kernel, shape.inputs, g, places.kernel(g.cudnn));
    matrix(recurrent, shape.units, g, places.recurrent(g.cudnn));
    if (!bias) continue;
    const char* first = bias.array().bytes();
    vector(first, g, places.bias(g.cudnn));
    if (shape.cell == CudnnCell::Gru)  // its second row
      vector(first + shape.gates() * shape.units * size_of(shape.dtype), g,
             places.recurrent_bias(g.cudnn));
  }
}

/// A call, with the values that its gradient needs. Tensors are row-major and on one GPU.
struct CudnnRecurrentCall {
  CudnnRecurrentShape shape;
  std::vector<Tensor> inputs;  // of the recorded operation: x, kernel, recurrent kernel, bias, h, c
  Tensor x, weights, h, c;
  CudnnRecurrent forward = {};
  bool reserve_is_used_up = false;

  CudnnRecurrentInputs arrays() const {
    const auto array = [&](const Tensor& t) {
      return t ? cuda_aligned(t.array(), t.num_elements() * size_of(t.dtype())) : Array{};
    };
    return {array(x), array(weights), array(h), array(c)};
  }
};

DISTRIBUTE_INLINE std::vector<Tensor> cudnn_recurrent_gradients(CudnnRecurrentCall& call,
                                                                const Backward& backward) {
  const CudnnRecurrentShape& s = call.shape;
  const Device device = call.x.device();
  const CudnnRecurrentInputs in = call.arrays();
  if (std::exchange(call.reserve_is_used_up, true))  // for a second gradient of the same call
    call.forward = cudnn_recurrent(s, in, true);
  const auto given = [&](size_t output, const Shape& shape) {
    const Tensor& g = backward.gradient(output);
    const Tensor t = g ? brought_to(cast(g, s.dtype), device) : fill(shape, 0, s.dtype, device);
    return cuda_aligned(t.array(), t.num_elements() * size_of(s.dtype));
  };
  const Shape state{s.batch, s.units};
  const bool of_weights = backward.needs(1) || backward.needs(2) || backward.needs(3);
  const Tensor space = of_weights ? fill({CudnnWeights(s).count}, 0, s.dtype, device) : Tensor();
  const CudnnRecurrentGradients g = cudnn_recurrent_backward(
      s, in, call.forward, given(0, {s.batch, s.steps, s.units}), given(1, state),
      call.c ? given(2, state) : Array{}, space ? &space.array() : nullptr);
  std::vector<Tensor> gradients(6);
  if (backward.needs(0)) gradients[0] = Tensor(call.x.shape(), s.dtype, g.dx);
  if (of_weights) {
    for (size_t i = 1; i < 4; ++i)
      if (call.inputs[i]) gradients[i] = Tensor::empty(call.inputs[i].shape(), s.dtype, device);
    CudnnWeightCopy{s, space.array().bytes(), true, device}.all(gradients[1], gradients[2],
                                                                gradients[3]);
  }
  for (size_t i = 1; i < 4; ++i)
    if (!backward.needs(i)) gradients[i] = Tensor();
  if (backward.needs(4)) gradients[4] = Tensor(state, s.dtype, g.dh);
  if (backward.needs(5)) gradients[5] = Tensor(state, s.dtype, g.dc);
  return gradients;
}

/// Computes y of all steps, then the states; recorded.
DISTRIBUTE_INLINE std::vector<Tensor> run_cudnn_recurrent(const CudnnRecurrentShape& s,
                                                          const Tensor& x,
                                                          const nn::RecurrentWeights& w,
                                                          const std::vector<Tensor>& initial) {
  const Device device = device_of({x, w.kernel});
  const auto call = std::make_shared<CudnnRecurrentCall>();
  call->shape = s;
  call->inputs = {x, w.kernel, w.recurrent_kernel, w.bias};
  call->inputs.insert(call->inputs.end(), initial.begin(), initial.end());
  call->inputs.resize(6);
  const auto state = [&](size_t i) {
    return i < initial.size() ? brought_to(initial[i], device)
                              : fill({s.batch, s.units}, 0, s.dtype, device);
  };
  call->x = brought_to(x, device);
  call->h = state(0);
  if (s.cell == CudnnCell::Lstm) call->c = state(1);
  call->weights = Tensor::empty({CudnnWeights(s).count}, s.dtype, device);
  const auto near = [&](const Tensor& t) { return t ? brought_to(t, device) : t; };
  CudnnWeightCopy{s, call->weights.array().bytes(), false, device}.all(
      near(w.kernel), near(w.recurrent_kernel), near(w.bias));
  call->forward = cudnn_recurrent(s, call->arrays(), is_recording(call->inputs));
  std::vector<Tensor> outputs{Tensor({s.batch, s.steps, s.units}, s.dtype, call->forward.y),
                              Tensor({s.batch, s.units}, s.dtype, call->forward.h)};
  if (call->c) outputs.push_back(Tensor({s.batch, s.units}, s.dtype, call->forward.c));
  record("recurrent", call->inputs, outputs, [call](const Backward& backward) {
    return final_gradients("recurrent gradient", {call->inputs[0], call->inputs[1]},
                           cudnn_recurrent_gradients(*call, backward));
  });
  return outputs;
}

/// Returns the number of steps of each sequence; empty without a mask, or if it skips no step.
/// `why` is set if cuDNN cannot use the mask.
DISTRIBUTE_INLINE std::vector<int32_t> sequence_lengths(const Tensor& mask, std::string& why) {
  const Tensor here = mask.to(Device{}).row_major();
  const auto valid = here.data<bool>();
  const int64_t batch = mask.shape()[0], steps = mask.shape()[1];
  std::vector<int32_t> lengths;
  for (int64_t b = 0; b < batch; ++b) {
    const auto row = valid.subspan(size_t(b * steps), size_t(steps));
    const auto end = std::find(row.begin(), row.end(), false);
    if (std::find(end, row.end(), true) != row.end()) why = "steps are left out before others";
    if (end == row.begin()) why = "a sequence has no steps";
    lengths.push_back(int32_t(end - row.begin()));
  }
  const bool whole = std::all_of(lengths.begin(), lengths.end(),
                                 [&](int32_t length) { return length == int32_t(steps); });
  return whole ? std::vector<int32_t>() : lengths;
}

/// Returns why cuDNN cannot be used, apart from the mask's values; empty if it can.
DISTRIBUTE_INLINE std::string why_not_cudnn(const Tensor& x, const nn::RecurrentOptions& options,
                                            const Tensor& mask) {
  using enum nn::RecurrentCell;
  if (autograd_internal::is_tracing()) return "it is exported";
  if (x.shape()[0] == 0 || x.shape()[2] == 0) return "there is no input";
  if (options.cell == GruResetBefore) return "its reset gate comes before the product";
  if (options.activation != &nn::tanh) return "its activation is not tanh";
  if (options.cell != Simple && options.recurrent_activation != &nn::sigmoid)
    return "the activation of its gates is not sigmoid";
  if (mask && options.go_backwards) return "it reads a masked sequence backwards";
  if (mask && options.zero_output_for_mask && !options.return_sequences)
    return "its last output is zero where the last step is masked";
  if (mask && RecordedStep::current()) return "it has a mask and is recorded";
  return cudnn_problem();
}

DISTRIBUTE_INLINE std::optional<nn::RecurrentResult> cudnn_recurrent_layer(
    const Tensor& x, const nn::RecurrentWeights& w, const nn::RecurrentOptions& options,
    const Tensor& mask, const std::vector<Tensor>& initial) {
  CudnnRecurrentShape s{cudnn_cell(options.cell),
                        x.dtype(),
                        x.shape()[0],
                        x.shape()[1],
                        x.shape()[2],
                        w.recurrent_kernel.shape()[0],
                        bool(w.bias),
                        {}};
  std::string why = why_not_cudnn(x, options, mask);
  if (why.empty() && mask) s.lengths = sequence_lengths(mask, why);
  if (why.empty()) try {
      const Tensor read = options.go_backwards ? reverse(x, {1}) : x;
      std::vector<Tensor> outputs = run_cudnn_recurrent(s, read, w, initial);
      nn::RecurrentResult result{outputs[0], {outputs.begin() + 1, outputs.end()}};
      if (!options.return_sequences)
        result.output = outputs[1];
      else if (!s.lengths.empty() && !options.zero_output_for_mask)  // repeats the last output
        result.output = where(expand_dims(mask, -1), outputs[0], expand_dims(outputs[1], 1));
      return result;
    } catch (const UnimplementedError& error) {
      why = error.what();
    }
  log_internal::log_once(LogSeverity::Info, "ops", "recurrent layers",
                         "a recurrent layer runs step by step on the GPU, as " + why);
  return std::nullopt;
}

}  // namespace distribute::ops_internal
