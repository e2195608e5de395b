#pragma once
/// Attention of GPUs on cuDNN, without the matrix of all scores in memory.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>

namespace distribute {

/// softmax(scale q k^T) v: q [batch, queries, heads, depth], k [batch, keys, heads, depth],
/// v [batch, keys, heads, width]; bfloat16 or float16.
struct CudnnAttentionShape {
  DType dtype = DType::BFloat16;
  int64_t batch = 0, heads = 0, queries = 0, keys = 0, depth = 0, width = 0;
  bool is_causal = false;  // keys up to the query's own place
  bool operator==(const CudnnAttentionShape&) const = default;
};
struct CudnnAttentionInputs {
  Array q, k, v;
  float scale = 1;
};
struct CudnnAttention {
  Array out;       // [batch, queries, heads, width]
  Array log_sums;  // float32 [batch, heads, queries]: what the way back needs of the softmax
};
/// All on one GPU, at addresses that cuDNN takes; work goes to the current stream. `with_gradient`:
/// the way back is wanted, too.
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
