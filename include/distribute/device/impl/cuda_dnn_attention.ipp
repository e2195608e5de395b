#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_dnn_attention.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>
#include <distribute/device/detail/cuda_dnn_patterns.hpp>
#include <distribute/device/detail/cuda_dnn_plans.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace distribute {

namespace cudnn_internal {

using Id = CudnnGraph::Id;

/// Describes [batch, heads, steps, size] that is stored as [batch, steps, heads, size].
DISTRIBUTE_INLINE GraphTensor heads_of(cudnnDataType_t dtype, const CudnnAttentionShape& s,
                                       int64_t steps, int64_t size) {
  const int64_t row = s.heads * size;
  return {.dtype = dtype,
          .dims = {s.batch, s.heads, steps, size},
          .strides = {steps * row, size, row, 1}};
}
DISTRIBUTE_INLINE GraphTensor dense(cudnnDataType_t dtype, std::vector<int64_t> dims) {
  const int64_t row = dims[3], head = dims[2] * row, example = dims[1] * head;
  return {.dtype = dtype, .dims = std::move(dims), .strides = {example, head, row, 1}};
}
/// Exchanges the last two axes, over the same memory.
DISTRIBUTE_INLINE GraphTensor turned(GraphTensor tensor) {
  std::swap(tensor.dims[2], tensor.dims[3]);
  std::swap(tensor.strides[2], tensor.strides[3]);
  return tensor;
}

/// A graph of attention while it is built, with the tensors that several nodes use.
struct AttentionGraph {
  explicit AttentionGraph(const CudnnAttentionShape& shape) : s(shape) {}

  Id scores_of(Id q, Id k, Id scale);
  Id masked(Id x, Id never);
  Id combined(cudnnPointwiseMode_t mode, Id x, Id b) { return combined(mode, x, b, scores()); }
  Id combined(cudnnPointwiseMode_t mode, Id x, Id b, Id y) {
    graph.pointwise(mode, x, y, b);
    return y;
  }
  Id scores(cudnnDataType_t type = CUDNN_DATA_FLOAT) { return graph.add(between(all, type)); }
  Id row() { return graph.add(between(rows)); }
  Id reduced(cudnnReduceTensorOp_t mode, Id x) {
    const Id y = row();
    graph.reduction(mode, x, y);
    return y;
  }
  Id transposed(Id x) {
    const Id y = graph.add(between(turned(all), dtype));
    graph.reshape(x, y);
    return y;
  }

  CudnnAttentionShape s;
  CudnnGraph graph = {};
  cudnnDataType_t dtype = data_type_of(s.dtype);
  GraphTensor q = heads_of(dtype, s, s.queries, s.depth), k = heads_of(dtype, s, s.keys, s.depth),
              v = heads_of(dtype, s, s.keys, s.width), out = heads_of(dtype, s, s.queries, s.width),
              all = dense(CUDNN_DATA_FLOAT, {s.batch, s.heads, s.queries, s.keys}),
              rows = dense(CUDNN_DATA_FLOAT, {s.batch, s.heads, s.queries, 1});
};

DISTRIBUTE_INLINE Id AttentionGraph::scores_of(Id first, Id second, Id scale) {
  const Id products = scores();
  graph.matmul(first, second, products);
  return combined(CUDNN_POINTWISE_MUL, products, scale);
}

/// Replaces scores of keys after the query's position by `never`, minus infinity; with 0 nothing is
/// masked.
DISTRIBUTE_INLINE Id AttentionGraph::masked(Id x, Id never) {
  if (!never) return x;
  const Id query = scores(CUDNN_DATA_INT32), key = scores(CUDNN_DATA_INT32);
  const Id allowed = scores(CUDNN_DATA_BOOLEAN), y = scores();
  graph.indices(2, x, query);
  graph.indices(3, x, key);
  graph.at_least(query, allowed, key);
  graph.select(x, y, never, allowed);
  return y;
}

DISTRIBUTE_INLINE CudnnGraph attention_forward(const CudnnAttentionShape& s) {
  AttentionGraph g(s);
  CudnnGraph& graph = g.graph;
  const Id q = graph.add(g.q), k = graph.add(turned(g.k)), v = graph.add(g.v);
  const Id out = graph.add(g.out), log_sums = graph.add(g.rows), scale = graph.add(host_scalar());
  const Id never = s.is_causal ? graph.add(host_scalar()) : 0;
  const Id x = g.masked(g.scores_of(q, k, scale), never);
  const Id largest = g.reduced(CUDNN_REDUCE_TENSOR_MAX, x), power = g.scores(), logarithm = g.row();
  graph.pointwise(CUDNN_POINTWISE_EXP, g.combined(CUDNN_POINTWISE_SUB, x, largest), power);
  const Id sum = g.reduced(CUDNN_REDUCE_TENSOR_ADD, power);
  graph.pointwise(CUDNN_POINTWISE_LOG, sum, logarithm);
  graph.pointwise(CUDNN_POINTWISE_ADD, largest, log_sums, logarithm);
  graph.matmul(g.combined(CUDNN_POINTWISE_DIV, power, sum, g.scores(g.dtype)), v, out);
  return std::move(graph);
}

/// Computes ds = p (d_out v^T - sum of out d_out) scale, where the softmax p is computed again; dq
/// = ds k, dk = ds^T q, dv = p^T d_out.
DISTRIBUTE_INLINE CudnnGraph attention_backward(const CudnnAttentionShape& s, bool in_float32) {
  AttentionGraph g(s);
  CudnnGraph& graph = g.graph;
  const Id q = graph.add(g.q), k = graph.add(turned(g.k)), v = graph.add(turned(g.v));
  const Id out = graph.add(g.out), d_out = graph.add(g.out), log_sums = graph.add(g.rows);
  const Id scale = graph.add(host_scalar()), one = graph.add(host_scalar());
  const Id dq = graph.add(g.q), dk = graph.add(g.k), dv = graph.add(g.v), sums = graph.add(g.rows);
  const Id never = s.is_causal ? graph.add(host_scalar()) : 0;
  const Id product = graph.add(between(g.out)), power = g.scores(),
           plain_k = graph.add(between(g.k, g.dtype));
  graph.pointwise(CUDNN_POINTWISE_MUL, d_out, product, out);
  graph.pointwise(CUDNN_POINTWISE_MUL, g.reduced(CUDNN_REDUCE_TENSOR_ADD, product), sums, one);
  const Id x = g.combined(CUDNN_POINTWISE_SUB, g.scores_of(q, k, scale), log_sums);
  graph.pointwise(CUDNN_POINTWISE_EXP, g.masked(x, never), power);
  graph.matmul(g.transposed(power), d_out, dv);
  const Id dp = g.scores();
  graph.matmul(d_out, v, dp);
  const Id slope =
      g.combined(CUDNN_POINTWISE_MUL, g.combined(CUDNN_POINTWISE_SUB, dp, sums), power);
  const Id ds = g.combined(CUDNN_POINTWISE_MUL, slope, scale, g.scores(g.dtype));
  graph.matmul(g.transposed(ds), q, dk);
  graph.reshape(k, plain_k);
  if (!in_float32) {
    graph.matmul(ds, plain_k, dq);
    return std::move(graph);
  }
  const Id sum = graph.add(dense(CUDNN_DATA_FLOAT, {s.batch, s.heads, s.queries, s.depth}));
  graph.matmul(ds, plain_k, sum);
  graph.pointwise(CUDNN_POINTWISE_IDENTITY, sum, dq);
  return std::move(graph);
}

DISTRIBUTE_INLINE std::string attention_key(char operation, const CudnnAttentionShape& s) {
  const int64_t numbers[] = {int64_t(s.dtype), s.batch, s.heads, s.queries,
                             s.keys,           s.depth, s.width, s.is_causal};
  return operation + std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
}

/// Whether queries' gradients may be summed in an order that depends on timing.
DISTRIBUTE_INLINE bool sums_in_float32(Device device) {
  return !current_options(device).deterministic;
}

}  // namespace cudnn_internal

DISTRIBUTE_INLINE CudnnAttention cudnn_attention(const CudnnAttentionShape& s,
                                                 const CudnnAttentionInputs& in,
                                                 bool with_gradient) {
  using namespace cudnn_internal;
  constexpr size_t kOldest = 90600;  // earlier versions expect cleared sums
  if (cudnn().get_version() < kOldest)
    throw UnimplementedError("attention on cuDNN needs version 9.6 or later");
  const Device device = in.q.buffer->device();
  const bool in_float32 = sums_in_float32(device);
  if (with_gradient)
    require_cudnn_plan(device, attention_key('B', s),
                       [&] { return attention_backward(s, in_float32); });
  const int64_t rows = s.batch * s.queries * s.heads;
  CudnnAttention result{make_array(rows * s.width * size_of(s.dtype), device),
                        make_array(rows * int64_t(sizeof(float)), device)};
  float scale = in.scale, never = -std::numeric_limits<float>::infinity();
  std::vector<void*> pointers{
      in.q.bytes(), in.k.bytes(), in.v.bytes(), result.out.bytes(), result.log_sums.bytes(),
      &scale};
  if (s.is_causal) pointers.push_back(&never);
  run_cudnn(
      device, attention_key('A', s), [&] { return attention_forward(s); }, pointers,
      Choice::Favourite);
  return result;
}

DISTRIBUTE_INLINE CudnnAttentionGradients cudnn_attention_backward(const CudnnAttentionShape& s,
                                                                   const CudnnAttentionInputs& in,
                                                                   const CudnnAttention& forward,
                                                                   const Array& d_out) {
  using namespace cudnn_internal;
  const Device device = in.q.buffer->device();
  const bool in_float32 = sums_in_float32(device);
  const auto like = [&](int64_t steps, int64_t size) {
    return make_array(s.batch * steps * s.heads * size * size_of(s.dtype), device);
  };
  const int64_t rows = s.batch * s.queries * s.heads;
  CudnnAttentionGradients result{like(s.queries, s.depth), like(s.keys, s.depth),
                                 like(s.keys, s.width)};
  const Array sums = make_array(rows * int64_t(sizeof(float)), device);
  float scale = in.scale, one = 1, never = -std::numeric_limits<float>::infinity();
  std::vector<void*> pointers{in.q.bytes(),
                              in.k.bytes(),
                              in.v.bytes(),
                              forward.out.bytes(),
                              d_out.bytes(),
                              forward.log_sums.bytes(),
                              &scale,
                              &one,
                              result.dq.bytes(),
                              result.dk.bytes(),
                              result.dv.bytes(),
                              sums.bytes()};
  if (s.is_causal) pointers.push_back(&never);
  const Array own =
      in_float32 ? make_array(rows * s.depth * int64_t(sizeof(float)), device) : Array{};
  if (in_float32) pointers.push_back(own.bytes());
  run_cudnn(
      device, attention_key('B', s), [&] { return attention_backward(s, in_float32); }, pointers,
      Choice::Favourite);
  return result;
}

}  // namespace distribute
#endif
