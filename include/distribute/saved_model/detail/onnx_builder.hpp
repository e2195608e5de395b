#pragma once
/// Builds ONNX's GraphProto, node by node.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace distribute::io {
class ProtoWriter;
}

namespace distribute::saved_model_internal {

/// Constants of the graph by name; row-major in host memory.
using OnnxInitializers = std::vector<std::pair<std::string, Tensor>>;

struct OnnxGraph {
  std::vector<std::string> nodes;            // encoded NodeProtos
  std::vector<std::string> inputs, outputs;  // encoded ValueInfoProtos
  OnnxInitializers initializers;
};

/// Returns a TensorProto.DataType.
int64_t onnx_type(DType dtype);

/// Names of a value in its two forms, NHWC (or no image) and NCHW; empty if it does not exist in
/// that form.
struct OnnxValue {
  std::string plain = {}, channels_first = {};
};

inline OnnxValue in_form(bool channels_first, const std::string& name) {
  return channels_first ? OnnxValue{"", name} : OnnxValue{name, ""};
}

/// Encoded AttributeProtos.
struct OnnxAttributes {
  std::vector<std::string> protos;
  OnnxAttributes& integer(const std::string& name, int64_t value);
  OnnxAttributes& real(const std::string& name, float value);
  OnnxAttributes& list(const std::string& name, const Sizes& values);

 private:
  OnnxAttributes& add(io::ProtoWriter& proto, int64_t type);
};

/// Builds the graph. An image may exist as NHWC, as NCHW, or both: the first node that needs the
/// other form makes it, with a Transpose, for all.
class OnnxBuilder {
 public:
  using Node = saved_model::InferenceNode;
  using Names = std::vector<std::string>;

  explicit OnnxBuilder(const saved_model::InferenceGraph& graph) : graph_(graph) {}

  /// Starts a node; they come in the order of the graph.
  void begin(const Node& node) { now_ = &node; }
  void end(OnnxValue value) { values_.push_back(std::move(value)); }
  OnnxGraph finish();

  // The following functions return the node being translated, and its operands in one of the forms.
  const Node& now() const { return *now_; }
  const Node& input(size_t i) const { return graph_.nodes[size_t(now_->inputs[i])]; }
  std::string plain(size_t i);
  std::string channels_first(size_t i);
  bool is_channels_first(size_t i) const;
  /// Returns operand i for a result in that form; `fits` becomes false if the operand does not have
  /// it.
  std::string operand(size_t i, bool first, bool& fits);
  const Sizes& list(const char* key) const;
  int64_t integer(const char* key) const;
  float real(const char* key) const;
  bool flag(const char* key) const;

  // The following functions emit nodes; each returns the name of the value.
  std::string emit(const std::string& op, const Names& inputs, const std::string& output,
                   const OnnxAttributes& attributes = {}, const std::string& second_output = {});
  std::string initializer(const std::string& name, const Tensor& value);
  std::string integers(const std::string& name, const Sizes& values);

 private:
  const saved_model::InferenceGraph& graph_;
  const Node* now_ = nullptr;
  std::vector<OnnxValue> values_;
  std::set<std::string> made_;  // initializers
  OnnxGraph result_;
};

}  // namespace distribute::saved_model_internal
