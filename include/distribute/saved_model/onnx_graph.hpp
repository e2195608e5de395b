#pragma once
/// An inference graph as ONNX's GraphProto: operations, image layouts and initializers.

#include <distribute/base/config.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/saved_model/inference_graph.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace distribute::saved_model_internal {

/// Constants of the graph by name; row-major in host memory.
using OnnxInitializers = std::vector<std::pair<std::string, Tensor>>;

struct OnnxGraph {
  std::vector<std::string> nodes;  // encoded NodeProtos
  std::string input, output;       // encoded ValueInfoProtos
  OnnxInitializers initializers;
};

/// Translates node by node. An image may be there as NHWC, as NCHW, or both: whoever needs the
/// other form makes it once, with a Transpose.
class OnnxLowering {
 public:
  explicit OnnxLowering(const saved_model::InferenceGraph& graph) : graph_(graph) {}
  /// Throws  UnimplementedError for an operation that ONNX lacks.
  OnnxGraph run();

 private:
  using Node = saved_model::InferenceNode;
  using Sizes = std::vector<int64_t>;
  using Names = std::vector<std::string>;

  /// Names of a value in its two forms; empty where it is not there in that form.
  struct Value {
    std::string plain, channels_first;
  };
  /// Encoded AttributeProtos.
  struct Attributes {
    std::vector<std::string> protos;
    Attributes& integer(const std::string& name, int64_t value);
    Attributes& real(const std::string& name, float value);
    Attributes& list(const std::string& name, const Sizes& values);
  };

  std::string emit(const std::string& op, const Names& inputs, const std::string& output,
                   const Attributes& attributes = {});
  std::string initializer(const std::string& name, const Tensor& value);
  std::string integers(const std::string& name, const Sizes& values);
  const Node& node(int place) const { return graph_.nodes[size_t(place)]; }
  const Node& input(size_t i) const { return node(now_->inputs[i]); }
  std::string plain(int place);
  std::string channels_first(int place);
  std::string in(size_t i) { return plain(now_->inputs[i]); }
  bool is_channels_first(size_t i) const;
  const Sizes& list(const char* key) const;
  int64_t integer(const char* key) const;
  bool flag(const char* key) const;

  Value write();
  Value write_other();
  Value elementwise(const std::string& op, const Attributes& attributes = {});
  Value composite();
  std::string operand(size_t i, bool first, bool& fits);
  std::string convolution_weights(size_t i);
  Attributes window(const Sizes& kernel) const;
  Value convolution();
  Value pool();
  Value batch_norm();
  Value matmul();
  Value batch_matmul();
  Value reduction();
  Value slice();
  Value pad();
  Value concat_values();
  Value one_hot();

  const saved_model::InferenceGraph& graph_;
  const Node* now_ = nullptr;
  std::vector<Value> values_;
  std::set<std::string> made_;  // initializers
  OnnxGraph result_;
};

/// TensorProto.DataType.
int64_t onnx_type(DType dtype);

}  // namespace distribute::saved_model_internal

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/saved_model/impl/onnx_graph.ipp>
#endif
