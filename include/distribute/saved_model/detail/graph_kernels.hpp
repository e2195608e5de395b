#pragma once
/// Implements operations of TensorFlow by operations of this library.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_reader.hpp>

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace distribute::saved_model_internal {

/// One node with the values of its inputs.
class KernelCall {
 public:
  KernelCall(const RunNode& node, std::vector<GraphValue> inputs)
      : node_(node), inputs_(std::move(inputs)) {}

  const RunNode& node() const { return node_; }
  size_t size() const { return inputs_.size(); }
  const GraphValue& value(size_t i) const;
  /// Throws  InvalidArgumentError if the input is missing or no tensor.
  const Tensor& tensor(size_t i) const;
  std::vector<Tensor> tensors(size_t begin, size_t end) const;
  /// Returns the elements of an integer tensor, such as axes or a shape.
  std::vector<int64_t> integers(size_t i) const;
  int64_t integer(size_t i) const;

  const NodeAttribute* attribute(const char* key) const;
  int64_t attribute_or(const char* key, int64_t otherwise) const;
  float real_or(const char* key, float otherwise) const;
  bool flag_or(const char* key, bool otherwise) const;
  std::string text_or(const char* key, const std::string& otherwise) const;
  std::vector<int64_t> list(const char* key) const;
  DType dtype_or(const char* key, DType otherwise) const;
  /// Throws  UnimplementedError that names the node.
  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  const RunNode& node_;
  std::vector<GraphValue> inputs_;
};

using Kernel = std::function<std::vector<GraphValue>(const KernelCall&)>;
using Kernels = std::unordered_map<std::string, Kernel>;

/// Returns null for an unknown operation.
const Kernel* find_kernel(const std::string& op);

const Kernels& array_kernels();

const Kernels& image_kernels();

const Kernels& list_kernels();

const Kernels& math_kernels();

}  // namespace distribute::saved_model_internal
