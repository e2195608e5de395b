#pragma once
/// Attention on GPUs by cuDNN, which never stores the matrix of all scores.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>

namespace distribute {

/// Shape of softmax(scale q k^T) v: q [batch, queries, heads, depth], k [batch, keys, heads,
/// depth], v [batch, keys, heads, width]; bfloat16 or float16.
struct CudnnAttentionShape {
  DType dtype = DType::BFloat16;
  int64_t batch = 0, heads = 0, queries = 0, keys = 0, depth = 0, width = 0;
  bool is_causal = false;  // a query sees only keys at its own position and before
  bool operator==(const CudnnAttentionShape&) const = default;
};
struct CudnnAttentionInputs {
  Array q, k, v;
  float scale = 1;
};
struct CudnnAttention {
  Array out;       // [batch, queries, heads, width]
  Array log_sums;  // float32 [batch, heads, queries]: the softmax's sums, for the gradient
};
/// Computes attention on the current stream. All arrays are on one GPU, at addresses that cuDNN
/// accepts. `with_gradient` requires that the gradient can be computed, too.
/// Throws  UnavailableError without cuDNN; UnimplementedError when it has no engine for the shape.
CudnnAttention cudnn_attention(const CudnnAttentionShape& shape, const CudnnAttentionInputs& in,
                               bool with_gradient);
struct CudnnAttentionGradients {
  Array dq, dk, dv;
};
CudnnAttentionGradients cudnn_attention_backward(const CudnnAttentionShape& shape,
                                                 const CudnnAttentionInputs& in,
                                                 const CudnnAttention& forward, const Array& d_out);

}  // namespace distribute
