#pragma once
/// Builds a graph of cuDNN operations out of tensors and nodes.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_descriptor.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// An array of a graph. Dimensions are [n, c, h, w], strides say how they lie.
struct GraphTensor {
  cudnnDataType_t dtype = CUDNN_DATA_FLOAT;
  std::vector<int64_t> dims = {}, strides = {};
  bool is_virtual = false;  // lives between two nodes of the graph and nowhere else
  bool by_value = false;    // a scalar in host memory
};

cudnnDataType_t data_type_of(DType dtype);
/// [n, h, w, c] in memory.
GraphTensor image(cudnnDataType_t dtype, int64_t n, int64_t c, int64_t h, int64_t w);
/// A float32 vector with one element for each channel.
GraphTensor channel_vector(int64_t channels);
/// A float32 scalar of the host.
GraphTensor host_scalar();
/// The same array, living between two nodes only, as `dtype`.
GraphTensor between(GraphTensor tensor, cudnnDataType_t dtype = CUDNN_DATA_FLOAT);

enum class ConvolutionPass { Forward, Data, Filter };

/// Nodes compute in float32. Every call adds to signature(), which names the graph in full, so that
/// equal signatures mean equal graphs. Used by one thread.
class CudnnGraph {
 public:
  using Id = int64_t;  // number of a tensor, from 1 in order of add()
  using Named = std::initializer_list<std::pair<cudnnBackendAttributeName_t, Id>>;

  Id add(const GraphTensor& tensor);
  const GraphTensor& tensor(Id id) const { return tensors_[size_t(id - 1)]; }

  /// Forward: y from x and w; Data: x from y and w; Filter: w from x and y.
  void convolution(ConvolutionPass pass, const Conv2DShape& shape, Id x, Id w, Id y);
  /// y = mode(x), or mode(x, b).
  void pointwise(cudnnPointwiseMode_t mode, Id x, Id y, Id b = 0);
  /// y = the places of x's elements along `axis`, int32.
  void indices(int64_t axis, Id x, Id y);
  /// y = x >= b, of int32, as booleans.
  void at_least(Id x, Id y, Id b);
  /// y = x where `where` is true, else `otherwise`.
  void select(Id x, Id y, Id otherwise, Id where);
  /// c = a b, of the last two axes.
  void matmul(Id a, Id b, Id c);
  /// Along the axes where y has one element and x more.
  void reduction(cudnnReduceTensorOp_t mode, Id x, Id y);
  /// y = x, other strides over the same memory.
  void reshape(Id x, Id y);
  /// Any node without a descriptor of its own: its tensors by attribute.
  CudnnDescriptor& node(cudnnBackendDescriptorType_t type, const std::string& name, Named tensors);
  /// Batch normalization of a training step: y from x, and the batch's mean and 1 / deviation.
  struct NormForward {
    Id x, scale, bias, epsilon, y, mean, inverse_deviation;
  };
  void batch_norm(const NormForward& tensors);
  struct NormBackward {
    Id x, dy, scale, mean, inverse_deviation, dx, dscale, dbias;
  };
  void batch_norm_backward(const NormBackward& tensors);

  /// The finished graph; this object must outlive it. `handle` of the device it is for, or null.
  CudnnDescriptor finish(cudnnHandle_t handle = nullptr);
  const std::string& signature() const { return signature_; }
  /// Numbers of the tensors that the caller brings.
  std::vector<Id> bound() const;

 private:
  struct PointwiseSettings;
  void pointwise_node(const PointwiseSettings& settings, Named tensors);
  CudnnDescriptor& helper(cudnnBackendDescriptorType_t type);

  std::string signature_;
  std::vector<GraphTensor> tensors_;
  std::vector<CudnnDescriptor> descriptors_, helpers_, nodes_;
};

}  // namespace distribute::cudnn_internal
