#pragma once
/// Builds a graph of cuDNN operations out of tensors and nodes.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_library.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// cuDNN's name for the type of an attribute's values.
template <typename T>
inline constexpr auto kCudnnType = nullptr;
template <>
inline constexpr auto kCudnnType<int64_t> = CUDNN_TYPE_INT64;
template <>
inline constexpr auto kCudnnType<bool> = CUDNN_TYPE_BOOLEAN;
template <>
inline constexpr auto kCudnnType<float> = CUDNN_TYPE_FLOAT;
template <>
inline constexpr auto kCudnnType<double> = CUDNN_TYPE_DOUBLE;
template <>
inline constexpr auto kCudnnType<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <>
inline constexpr auto kCudnnType<cudnnBackendDescriptor_t> = CUDNN_TYPE_BACKEND_DESCRIPTOR;

template <typename T>
concept CudnnScalar = !std::is_null_pointer_v<std::remove_cv_t<decltype(kCudnnType<T>)>>;

/// A descriptor of cuDNN. Its attributes are set first; finalize() ends that, and the descriptor
/// then never changes. Moved-from is empty. Thread-compatible.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  CudnnDescriptor(std::nullptr_t) = delete;
  CudnnDescriptor(int) = delete;
  CudnnDescriptor(CudnnDescriptor&& other) noexcept : native_(other.release()) {}
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept {
    std::swap(native_, other.native_);
    return *this;
  }
  ~CudnnDescriptor();

  cudnnBackendDescriptor_t native() const { return native_; }
  cudnnBackendDescriptor_t release() { return std::exchange(native_, nullptr); }

  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       int64_t count, const void* values);
  template <CudnnScalar T>
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, T value) {
    return set(name, kCudnnType<T>, 1, &value);
  }
  template <CudnnScalar T>
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::span<const T> values) {
    return set(name, kCudnnType<T>, int64_t(values.size()), values.data());
  }
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
    return set(name, value.native_);
  }
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const std::string& text) {
    return set(name, CUDNN_TYPE_CHAR, int64_t(text.size()), text.data());
  }

  /// Ends the setting of attributes; `what` says in messages what was being made.
  /// Throws  what check_cudnn() throws.
  CudnnDescriptor& finalize(const std::string& what);
  /// Does the same for engines and plans, for which "not supported" is a normal answer.
  cudnnStatus_t try_finalize();

  int64_t get_int64(cudnnBackendAttributeName_t name) const;
  std::string get_text(cudnnBackendAttributeName_t name) const;
  /// All values of a list of enumerators.
  std::vector<int> get_enumerators(cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type) const;

 private:
  template <typename T>
  std::vector<T> get_all(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;

  cudnnBackendDescriptor_t native_ = nullptr;
};

/// An array of a graph. Dimensions are [n, c, h, w]; strides give their places in memory.
struct GraphTensor {
  cudnnDataType_t dtype = CUDNN_DATA_FLOAT;
  std::vector<int64_t> dims = {}, strides = {};
  bool is_virtual = false;  // exists only between two nodes of the graph
  bool by_value = false;    // is a scalar in host memory
};

cudnnDataType_t data_type_of(DType dtype);
/// Describes an image of logical dimensions [n, c, h, w] that lies in memory as [n, h, w, c].
GraphTensor image(cudnnDataType_t dtype, int64_t n, int64_t c, int64_t h, int64_t w);
/// Describes a float32 vector with one element for each channel.
GraphTensor channel_vector(int64_t channels);
/// Describes a float32 scalar in host memory.
GraphTensor host_scalar();
/// Describes the same array as `dtype`, existing only between two nodes.
GraphTensor between(GraphTensor tensor, cudnnDataType_t dtype = CUDNN_DATA_FLOAT);

enum class ConvolutionPass { Forward, Data, Filter };

/// A graph under construction. Nodes compute in float32. Every call adds to signature(), which
/// describes the whole graph, so that equal signatures mean equal graphs. Used by one thread.
class CudnnGraph {
 public:
  using Id = int64_t;  // number of a tensor, counted from 1 in the order of add()
  using Named = std::initializer_list<std::pair<cudnnBackendAttributeName_t, Id>>;

  Id add(const GraphTensor& tensor);
  const GraphTensor& tensor(Id id) const { return tensors_[size_t(id - 1)]; }

  /// Adds a convolution. Forward computes y from x and w; Data computes x from y and w; Filter
  /// computes w from x and y.
  void convolution(ConvolutionPass pass, const Conv2DShape& shape, Id x, Id w, Id y);
  /// y = mode(x), or mode(x, b).
  void pointwise(cudnnPointwiseMode_t mode, Id x, Id y, Id b = 0);
  /// Sets y to the positions of x's elements along `axis`, int32.
  void indices(int64_t axis, Id x, Id y);
  /// y = x >= b, of int32, as booleans.
  void at_least(Id x, Id y, Id b);
  /// y = x where `where` is true, else `otherwise`.
  void select(Id x, Id y, Id otherwise, Id where);
  /// Computes c = a b over the last two axes.
  void matmul(Id a, Id b, Id c);
  /// Reduces x along the axes on which y has one element and x more.
  void reduction(cudnnReduceTensorOp_t mode, Id x, Id y);
  /// Sets y to x with other strides over the same memory.
  void reshape(Id x, Id y);
  /// Adds a node without a function of its own; `tensors` gives the tensor of each attribute.
  CudnnDescriptor& node(cudnnBackendDescriptorType_t type, const std::string& name, Named tensors);
  /// The tensors of batch normalization in a training step: y from x, and the batch's mean and 1 /
  /// deviation.
  struct NormForward {
    Id x, scale, bias, epsilon, y, mean, inverse_deviation;
  };
  void batch_norm(const NormForward& tensors);
  struct NormBackward {
    Id x, dy, scale, mean, inverse_deviation, dx, dscale, dbias;
  };
  void batch_norm_backward(const NormBackward& tensors);

  /// Finishes the graph, which this object must outlive. `handle` belongs to the device that it is
  /// for, or is null.
  CudnnDescriptor finish(cudnnHandle_t handle = nullptr);
  const std::string& signature() const { return signature_; }
  /// Numbers of the tensors whose memory the caller provides.
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
