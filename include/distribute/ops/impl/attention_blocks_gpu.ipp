#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/detail/log_once.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_backend.hpp>
#include <distribute/device/detail/cuda_dnn_attention.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/attention_blocks.hpp>
#include <distribute/ops/detail/gpu_loops.hpp>
#include <distribute/ops/sequence.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::ops_internal {

/// Values of the forward pass that the gradient needs.
struct CudnnAttentionCall {
  CudnnAttentionShape shape;
  Tensor q, k, v;
  CudnnAttentionInputs in;
  CudnnAttention forward;
};

DISTRIBUTE_INLINE Array attention_array(const Tensor& t, Device device) {
  const Tensor plain = brought_to(t, device).row_major();
  return cuda_aligned(plain.array(), plain.num_elements() * size_of(plain.dtype()));
}

/// Returns why cuDNN cannot be used; empty if it can.
DISTRIBUTE_INLINE std::string why_not_fused(const Tensor& q, const nn::AttentionOptions& options) {
  if (q.dtype() == DType::Float32) return "it is float32";
  if (options.dropout > 0) return "it drops probabilities";
  if (options.query_mask || options.key_mask || options.mask) return "it has a mask";
  return cudnn_problem();
}

DISTRIBUTE_INLINE std::vector<Tensor> cudnn_attention_gradients(const CudnnAttentionCall& call,
                                                                const Tensor& d_out) {
  const Device device = call.in.q.buffer->device();
  const CudnnAttentionGradients g = cudnn_attention_backward(
      call.shape, call.in, call.forward, attention_array(cast(d_out, call.shape.dtype), device));
  return {Tensor(call.q.shape(), call.shape.dtype, g.dq),
          Tensor(call.k.shape(), call.shape.dtype, g.dk),
          Tensor(call.v.shape(), call.shape.dtype, g.dv)};
}

DISTRIBUTE_INLINE Tensor run_cudnn_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                             bool is_causal, float scale) {
  const Device device = device_of({q, k, v});
  const Shape &a = q.shape(), &b = v.shape();
  const CudnnAttentionShape shape{q.dtype(), a[0], a[2], a[1], b[1], a[3], b[3], is_causal};
  CudnnAttentionCall call{shape, q, k, v, {}, {}};
  call.in = {attention_array(q, device), attention_array(k, device), attention_array(v, device),
             scale};
  const Tensor inputs[] = {q, k, v};
  call.forward = cudnn_attention(shape, call.in, is_recording(inputs));
  const Tensor out({a[0], a[1], a[2], b[3]}, q.dtype(), call.forward.out);
  return record("attention", {q, k, v}, out, [call](const Backward& backward) {
    return final_gradients("attention gradient", {call.q, call.k, call.v, backward.gradient()},
                           cudnn_attention_gradients(call, backward.gradient()));
  });
}

DISTRIBUTE_INLINE std::optional<Tensor> cudnn_attend(const Tensor& q, const Tensor& k,
                                                     const Tensor& v,
                                                     const nn::AttentionOptions& options,
                                                     double scale) {
  if (q.num_elements() == 0 || v.num_elements() == 0) return std::nullopt;
  std::string why = why_not_fused(q, options);
  if (why.empty()) try {
      return run_cudnn_attention(q, k, v, options.is_causal, float(scale));
    } catch (const UnimplementedError& error) {
      why = error.what();
    }
  log_internal::log_once(LogSeverity::Info, "ops", "attention",
                         "attention has all scores in memory, as " + why);
  return std::nullopt;
}

}  // namespace distribute::ops_internal
