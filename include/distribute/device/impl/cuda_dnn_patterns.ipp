#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_dnn_patterns.hpp>

namespace distribute::cudnn_internal {

using Id = CudnnGraph::Id;

/// The three arrays of a convolution; images of [n, h, w, c], filters of [out, h, w, in].
struct ConvolutionTensors {
  GraphTensor x, w, y;
  explicit ConvolutionTensors(const Conv2DShape& s) {
    const auto type = data_type_of(s.dtype);
    x = image(type, s.batch, s.in_channels, s.in[0], s.in[1]);
    w = image(type, s.out_channels, s.in_channels / s.groups, s.kernel[0], s.kernel[1]);
    y = image(type, s.batch, s.out_channels, s.out[0], s.out[1]);
  }
};

DISTRIBUTE_INLINE CudnnGraph convolution_forward(const Conv2DShape& s, bool with_bias,
                                                 Epilogue epilogue) {
  const ConvolutionTensors t(s);
  const bool relu = epilogue == Epilogue::Relu;
  CudnnGraph graph;
  const Id x = graph.add(t.x), w = graph.add(t.w), y = graph.add(t.y);
  const Id bias = with_bias ? graph.add(image(t.y.dtype, 1, s.out_channels, 1, 1)) : 0;
  const Id before_relu = relu ? graph.add(between(t.y)) : y;
  const Id product = with_bias ? graph.add(between(t.y)) : before_relu;
  graph.convolution(ConvolutionPass::Forward, s, x, w, product);
  if (with_bias) graph.pointwise(CUDNN_POINTWISE_ADD, product, before_relu, bias);
  if (relu) graph.pointwise(CUDNN_POINTWISE_RELU_FWD, before_relu, y);
  return graph;
}

DISTRIBUTE_INLINE CudnnGraph plain_convolution(ConvolutionPass pass, const Conv2DShape& s) {
  const ConvolutionTensors t(s);
  CudnnGraph graph;
  const Id x = graph.add(t.x), w = graph.add(t.w), y = graph.add(t.y);
  graph.convolution(pass, s, x, w, y);
  return graph;
}

DISTRIBUTE_INLINE CudnnGraph convolution_data(const Conv2DShape& s) {
  return plain_convolution(ConvolutionPass::Data, s);
}
DISTRIBUTE_INLINE CudnnGraph convolution_filter(const Conv2DShape& s) {
  return plain_convolution(ConvolutionPass::Filter, s);
}

/// Describes one bit for each element of an image.
DISTRIBUTE_INLINE GraphTensor bits(GraphTensor tensor) {
  tensor.dtype = CUDNN_DATA_BOOLEAN;
  return tensor;
}

DISTRIBUTE_INLINE GraphTensor whole_of(const NormShape& s) {
  return image(data_type_of(s.dtype), s.batch, s.channels, s.height, s.width);
}

DISTRIBUTE_INLINE CudnnGraph batch_norm_forward(const NormShape& s) {
  const GraphTensor whole = whole_of(s), vector = channel_vector(s.channels);
  CudnnGraph graph;
  CudnnGraph::NormForward t{};
  t.x = graph.add(whole);
  const Id y = graph.add(whole);
  t.scale = graph.add(vector);
  t.bias = graph.add(vector);
  t.epsilon = graph.add(host_scalar());
  t.mean = graph.add(vector);
  t.inverse_deviation = graph.add(vector);
  t.y = y;
  if (!s.relu) {
    graph.batch_norm(t);
    return graph;
  }
  const Id mask = graph.add(bits(whole)), zero = graph.add(host_scalar());
  const Id residual = s.residual ? graph.add(whole) : 0;
  const Id before_relu = graph.add(between(whole));
  t.y = s.residual ? graph.add(between(whole)) : before_relu;
  graph.batch_norm(t);
  if (s.residual) graph.pointwise(CUDNN_POINTWISE_ADD, t.y, before_relu, residual);
  graph.pointwise(CUDNN_POINTWISE_RELU_FWD, before_relu, y);
  graph.pointwise(CUDNN_POINTWISE_CMP_GT, y, mask, zero);
  return graph;
}

DISTRIBUTE_INLINE CudnnGraph batch_norm_backward(const NormShape& s) {
  const GraphTensor whole = whole_of(s), vector = channel_vector(s.channels);
  CudnnGraph graph;
  CudnnGraph::NormBackward t{};
  t.x = graph.add(whole);
  const Id dy = graph.add(whole);
  t.dx = graph.add(whole);
  t.scale = graph.add(vector);
  t.mean = graph.add(vector);
  t.inverse_deviation = graph.add(vector);
  t.dscale = graph.add(vector);
  t.dbias = graph.add(vector);
  t.dy = dy;
  if (s.summed) {
    const Id more = graph.add(whole);
    t.dy = graph.add(between(whole));
    graph.pointwise(CUDNN_POINTWISE_ADD, dy, t.dy, more);
  }
  if (s.relu) {
    const Id mask = graph.add(bits(whole)), whole_dy = t.dy;
    // It has the images' dtype, because no 16-bit engine takes a float32 one.
    t.dy = graph.add(s.keeps_gated ? whole : between(whole, whole.dtype));
    graph.pointwise(CUDNN_POINTWISE_MUL, whole_dy, t.dy, mask);
  }
  graph.batch_norm_backward(t);
  return graph;
}

DISTRIBUTE_INLINE CudnnGraph channel_sums(const NormShape& s) {
  const GraphTensor whole = whole_of(s), vector = channel_vector(s.channels);
  CudnnGraph graph;
  const Id x = graph.add(whole), sums = graph.add(vector), squares = graph.add(vector);
  const Id square = graph.add(between(whole));
  graph.pointwise(CUDNN_POINTWISE_MUL, x, square, x);
  graph.reduction(CUDNN_REDUCE_TENSOR_ADD, x, sums);
  graph.reduction(CUDNN_REDUCE_TENSOR_ADD, square, squares);
  return graph;
}

DISTRIBUTE_INLINE CudnnGraph channels_scaled(const NormShape& s) {
  const GraphTensor whole = whole_of(s), vector = channel_vector(s.channels);
  CudnnGraph graph;
  const Id x = graph.add(whole), y = graph.add(whole);
  const Id factor = graph.add(vector), shift = graph.add(vector);
  const Id mask = s.relu ? graph.add(bits(whole)) : 0, zero = s.relu ? graph.add(host_scalar()) : 0;
  const Id residual = s.residual ? graph.add(whole) : 0;
  const auto next = [&](bool last) { return last ? y : graph.add(between(whole)); };
  const Id scaled = next(false), shifted = next(!s.relu && !s.residual);
  graph.pointwise(CUDNN_POINTWISE_MUL, x, scaled, factor);
  graph.pointwise(CUDNN_POINTWISE_ADD, scaled, shifted, shift);
  const Id before_relu = s.residual ? next(!s.relu) : shifted;
  if (s.residual) graph.pointwise(CUDNN_POINTWISE_ADD, shifted, before_relu, residual);
  if (!s.relu) return graph;
  graph.pointwise(CUDNN_POINTWISE_RELU_FWD, before_relu, y);
  graph.pointwise(CUDNN_POINTWISE_CMP_GT, y, mask, zero);
  return graph;
}

/// Applies the gate to dy if there is one; the result goes to `gated`.
DISTRIBUTE_INLINE Id behind_gate(CudnnGraph& graph, Id dy, Id mask, Id gated) {
  if (!mask) return dy;
  graph.pointwise(CUDNN_POINTWISE_MUL, dy, gated, mask);
  return gated;
}

DISTRIBUTE_INLINE CudnnGraph channel_gradient_sums(const NormShape& s) {
  const GraphTensor whole = whole_of(s), vector = channel_vector(s.channels);
  CudnnGraph graph;
  const Id x = graph.add(whole), dy = graph.add(whole), mean = graph.add(vector);
  const Id sums = graph.add(vector), products = graph.add(vector);
  const Id mask = s.relu ? graph.add(bits(whole)) : 0;
  const Id g = behind_gate(graph, dy, mask, s.relu ? graph.add(between(whole)) : 0);
  const Id centered = graph.add(between(whole)), product = graph.add(between(whole));
  graph.pointwise(CUDNN_POINTWISE_SUB, x, centered, mean);
  graph.pointwise(CUDNN_POINTWISE_MUL, g, product, centered);
  graph.reduction(CUDNN_REDUCE_TENSOR_ADD, g, sums);
  graph.reduction(CUDNN_REDUCE_TENSOR_ADD, product, products);
  return graph;
}

DISTRIBUTE_INLINE CudnnGraph channels_gradient(const NormShape& s) {
  const GraphTensor whole = whole_of(s), vector = channel_vector(s.channels);
  CudnnGraph graph;
  const Id x = graph.add(whole), dy = graph.add(whole), dx = graph.add(whole);
  const Id factor = graph.add(vector), slope = graph.add(vector), constant = graph.add(vector);
  const Id mask = s.relu ? graph.add(bits(whole)) : 0;
  const Id gated = s.relu ? graph.add(s.keeps_gated ? whole : between(whole)) : 0;
  const Id g = behind_gate(graph, dy, mask, gated);
  const Id own = graph.add(between(whole)), line = graph.add(between(whole));
  const Id sum = graph.add(between(whole));
  graph.pointwise(CUDNN_POINTWISE_MUL, g, own, factor);
  graph.pointwise(CUDNN_POINTWISE_MUL, x, line, slope);
  graph.pointwise(CUDNN_POINTWISE_ADD, own, sum, line);
  graph.pointwise(CUDNN_POINTWISE_ADD, sum, dx, constant);
  return graph;
}

DISTRIBUTE_INLINE CudnnGraph convolution_statistics(const Conv2DShape& s) {
  const ConvolutionTensors t(s);
  const cudnnGenStatsMode_t mode = CUDNN_GENSTATS_SUM_SQSUM;
  CudnnGraph graph;
  const Id x = graph.add(t.x), w = graph.add(t.w), y = graph.add(t.y);
  const Id sum = graph.add(channel_vector(s.out_channels));
  const Id squares = graph.add(channel_vector(s.out_channels));
  graph.convolution(ConvolutionPass::Forward, s, x, w, y);
  graph
      .node(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR, "genstats",
            {{CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y},
             {CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sum},
             {CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares}})
      .set(CUDNN_ATTR_OPERATION_GENSTATS_MODE, CUDNN_TYPE_GENSTATS_MODE, 1, &mode)
      .set(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, CUDNN_DATA_FLOAT)
      .finalize("the statistics of a convolution");
  return graph;
}

}  // namespace distribute::cudnn_internal
#endif
