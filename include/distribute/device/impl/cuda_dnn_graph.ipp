#pragma once
#if DISTRIBUTE_HAS_CUDNN
#include <distribute/device/detail/cuda_dnn_graph.hpp>

namespace distribute::cudnn_internal {

DISTRIBUTE_INLINE cudnnDataType_t data_type_of(DType dtype) {
  switch (dtype) {
    case DType::Float32: return CUDNN_DATA_FLOAT;
    case DType::BFloat16: return CUDNN_DATA_BFLOAT16;
    case DType::Float16: return CUDNN_DATA_HALF;
    default: throw InvalidArgumentError(str_cat("cuDNN: no kernels for ", name_of(dtype)));
  }
}

DISTRIBUTE_INLINE GraphTensor image(cudnnDataType_t dtype, int64_t n, int64_t c, int64_t h,
                                    int64_t w) {
  return {dtype, {n, c, h, w}, {h * w * c, 1, w * c, c}};
}
DISTRIBUTE_INLINE GraphTensor channel_vector(int64_t channels) {
  return image(CUDNN_DATA_FLOAT, 1, channels, 1, 1);
}
DISTRIBUTE_INLINE GraphTensor host_scalar() {
  return {.dims = {1, 1, 1, 1}, .strides = {1, 1, 1, 1}, .by_value = true};
}
DISTRIBUTE_INLINE GraphTensor between(GraphTensor tensor, cudnnDataType_t dtype) {
  tensor.dtype = dtype;
  tensor.is_virtual = true;
  return tensor;
}

DISTRIBUTE_INLINE std::string joined(std::span<const int64_t> values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

DISTRIBUTE_INLINE CudnnGraph::Id CudnnGraph::add(const GraphTensor& tensor) {
  const Id id = Id(tensors_.size()) + 1;
  tensors_.push_back(tensor);
  CudnnDescriptor& d = descriptors_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const int64_t alignment = tensor.by_value ? 4 : 16;
  d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, tensor.dtype);
  d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const int64_t>(tensor.dims));
  d.set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const int64_t>(tensor.strides));
  d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment);
  d.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, tensor.is_virtual);
  d.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, tensor.by_value);
  d.finalize(str_cat("a tensor [", joined(tensor.dims), "]"));
  signature_ += str_cat("t", int(tensor.dtype), tensor.is_virtual ? "v" : "", "[",
                        joined(tensor.dims), "/", joined(tensor.strides), "];");
  return id;
}

DISTRIBUTE_INLINE CudnnDescriptor& CudnnGraph::helper(cudnnBackendDescriptorType_t type) {
  return helpers_.emplace_back(type);
}

DISTRIBUTE_INLINE CudnnDescriptor& CudnnGraph::node(cudnnBackendDescriptorType_t type,
                                                    const std::string& name, Named tensors) {
  CudnnDescriptor& d = nodes_.emplace_back(type);
  signature_ += name;
  for (const auto& [attribute, id] : tensors) {
    if (id) d.set(attribute, descriptors_[size_t(id - 1)]);
    signature_ += str_cat(" ", id);
  }
  signature_ += ";";
  return d;
}

/// The names that the three passes give to the same things.
struct ConvolutionNames {
  cudnnBackendDescriptorType_t type;
  const char* name;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};

DISTRIBUTE_INLINE ConvolutionNames names_of(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::Forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              "fprop",
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvolutionPass::Data:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              "dgrad",
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              "wgrad",
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

DISTRIBUTE_INLINE void CudnnGraph::convolution(ConvolutionPass pass, const Conv2DShape& s, Id x,
                                               Id w, Id y) {
  CudnnDescriptor& c = helper(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  c.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  c.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{2});
  c.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, std::span<const int64_t>(s.pad_before));
  c.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, std::span<const int64_t>(s.pad_after));
  c.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::span<const int64_t>(s.stride));
  c.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, std::span<const int64_t>(s.dilation));
  c.finalize("a convolution");
  signature_ += str_cat("p", joined(s.pad_before), ",", joined(s.pad_after), "s", joined(s.stride),
                        "d", joined(s.dilation));
  const ConvolutionNames n = names_of(pass);
  node(n.type, n.name, {{n.x, x}, {n.w, w}, {n.y, y}})
      .set(n.convolution, c)
      .set(n.alpha, 1.0)
      .set(n.beta, 0.0)
      .finalize("a convolution's node");
}

struct CudnnGraph::PointwiseSettings {
  cudnnPointwiseMode_t mode;
  cudnnDataType_t computed = CUDNN_DATA_FLOAT;
  int64_t axis = -1;
};

DISTRIBUTE_INLINE void CudnnGraph::pointwise_node(const PointwiseSettings& s, Named tensors) {
  CudnnDescriptor& function = helper(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  function.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &s.mode);
  function.set(CUDNN_ATTR_POINTWISE_MATH_PREC, s.computed);
  if (s.axis >= 0) function.set(CUDNN_ATTR_POINTWISE_AXIS, s.axis);
  function.finalize("a pointwise function");
  const std::string axis = s.axis >= 0 ? str_cat("a", s.axis) : "";
  node(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, str_cat("pw", int(s.mode), axis), tensors)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function)
      .finalize("a pointwise node");
}

DISTRIBUTE_INLINE void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, Id x, Id y, Id b) {
  pointwise_node({mode}, {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
                          {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b},
                          {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}});
}

DISTRIBUTE_INLINE void CudnnGraph::indices(int64_t axis, Id x, Id y) {
  pointwise_node(
      {CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, axis},
      {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x}, {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}});
}

DISTRIBUTE_INLINE void CudnnGraph::at_least(Id x, Id y, Id b) {
  pointwise_node({CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN},
                 {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
                  {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b},
                  {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}});
}

DISTRIBUTE_INLINE void CudnnGraph::select(Id x, Id y, Id otherwise, Id where) {
  pointwise_node({CUDNN_POINTWISE_BINARY_SELECT},
                 {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
                  {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, otherwise},
                  {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, where},
                  {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}});
}

DISTRIBUTE_INLINE void CudnnGraph::matmul(Id a, Id b, Id c) {
  CudnnDescriptor& product = helper(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  product.finalize("a matrix product");
  node(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, "mm",
       {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
        {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
        {CUDNN_ATTR_OPERATION_MATMUL_CDESC, c}})
      .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product)
      .finalize("a matrix product's node");
}

DISTRIBUTE_INLINE void CudnnGraph::reduction(cudnnReduceTensorOp_t mode, Id x, Id y) {
  CudnnDescriptor& reduction = helper(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode);
  reduction.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  reduction.finalize("a reduction");
  node(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, str_cat("reduce", int(mode)),
       {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y}})
      .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction)
      .finalize("a reduction's node");
}

DISTRIBUTE_INLINE void CudnnGraph::reshape(Id x, Id y) {
  node(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, "reshape",
       {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y}})
      .finalize("a reshape");
}

DISTRIBUTE_INLINE void CudnnGraph::batch_norm(const NormForward& t) {
  const cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;
  const cudnnBackendNormFwdPhase_t phase = CUDNN_NORM_FWD_TRAINING;
  node(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR, "norm",
       {{CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, t.x},
        {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, t.scale},
        {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, t.bias},
        {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, t.epsilon},
        {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, t.mean},
        {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, t.inverse_deviation},
        {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, t.y}})
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode)
      .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, 1, &phase)
      .finalize("a batch normalization");
}

DISTRIBUTE_INLINE void CudnnGraph::batch_norm_backward(const NormBackward& t) {
  const cudnnBackendNormMode_t mode = CUDNN_BATCH_NORM;
  node(CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR, "normb",
       {{CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, t.x},
        {CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, t.dy},
        {CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, t.scale},
        {CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, t.mean},
        {CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, t.inverse_deviation},
        {CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, t.dx},
        {CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, t.dscale},
        {CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, t.dbias}})
      .set(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, 1, &mode)
      .finalize("a batch normalization's backward");
}

DISTRIBUTE_INLINE CudnnDescriptor CudnnGraph::finish(cudnnHandle_t handle) {
  std::vector<cudnnBackendDescriptor_t> nodes;
  for (const CudnnDescriptor& node : nodes_) nodes.push_back(node.native());
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const cudnnBackendDescriptor_t>(nodes));
  if (handle) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
  graph.finalize(str_cat("graph ", signature_));
  return graph;
}

DISTRIBUTE_INLINE std::vector<CudnnGraph::Id> CudnnGraph::bound() const {
  std::vector<Id> ids;
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (!tensors_[i].is_virtual) ids.push_back(Id(i) + 1);
  return ids;
}

}  // namespace distribute::cudnn_internal
#endif
