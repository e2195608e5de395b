#pragma once
/// Builds the graph of a model from the operations of a pass, one after the other.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>
#include <distribute/saved_model/detail/operation_names.hpp>

#include <string>
#include <vector>

namespace distribute::saved_model_internal {

/// Returns the dtype of a value in files: floating ones are float32.
constexpr DType exported_dtype(DType dtype) { return is_floating(dtype) ? DType::Float32 : dtype; }

inline constexpr const char* kNoCounterpart = "has no counterpart in the graphs of TensorFlow";
inline constexpr const char* kLeaveOut =
    "leave it out of the exported function, or write it with operations of the table in "
    "docs/export.md";

/// Translates operations: it has the current operation of the pass, and the nodes made so far.
class GraphBuilder {
 public:
  using Attributes = saved_model::GraphAttributes;
  using Node = saved_model::InferenceNode;

  /// Reserves the names of inputs and outputs.
  GraphBuilder(const std::vector<PassOp>& ops, const saved_model::TraceOptions& options);

  /// Starts an operation; they come in the order of the pass.
  void begin(const PassOp& op) { op_ = &op; }
  void end(int place) { places_.push_back(place); }
  /// Returns the graph, whose output is the last operation's node where no output has a key.
  saved_model::InferenceGraph finish();

  // The following functions describe the operation being translated. Operands are nodes, by their
  // numbers.
  const PassOp& op() const { return *op_; }
  DType dtype() const { return exported_dtype(op_->dtype); }
  int in(size_t i) const { return op_->inputs[i] < 0 ? -1 : places_[size_t(op_->inputs[i])]; }
  bool has(size_t i) const { return i < op_->inputs.size() && op_->inputs[i] >= 0; }
  std::vector<int> inputs() const;
  int64_t integer(const char* key) const;
  float real(const char* key) const;
  const Sizes& list(const char* key) const;
  /// Throws  UnimplementedError that names the operation, the layer and the remedy.
  [[noreturn]] void refuse(const std::string& reason, const std::string& cure) const;

  // The following functions make nodes; each returns the number of its node.
  int add(const std::string& op, std::vector<int> inputs, Sizes shape, DType dtype,
          Attributes attributes = {});
  int input();
  int output(const std::string& key, int place);
  int constant(const Tensor& value, const std::string& name = {}, const Variable& variable = {});
  int number(double value, DType dtype = DType::Float32);
  int unary(const std::string& op, int x, Attributes attributes = {});
  int binary(const std::string& op, int a, int b);
  int reshape(int x, const Sizes& shape);
  int transpose(int x, const Sizes& permutation);
  int with_epilogue(int y);
  const Node& node(int place) const { return graph_.nodes[size_t(place)]; }
  int rank(int place) const { return int(node(place).shape.size()); }

 private:
  std::string scope() const;

  const std::vector<PassOp>& ops_;
  const saved_model::TraceOptions& options_;
  saved_model::InferenceGraph graph_;
  UniqueNames names_;
  std::vector<int> places_;  // nodes, by operation
  const PassOp* op_ = nullptr;
};

}  // namespace distribute::saved_model_internal
