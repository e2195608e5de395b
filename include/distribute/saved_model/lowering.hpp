#pragma once
/// Operations of this library in terms of TensorFlow's.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/inference_graph.hpp>

#include <set>
#include <string>
#include <vector>

namespace distribute::saved_model_internal {

/// The dtype of a value in files: floating ones are float32.
constexpr DType exported_dtype(DType dtype) { return is_floating(dtype) ? DType::Float32 : dtype; }

/// Names that are used once each: "Relu", "Relu_1", ...; characters that TensorFlow refuses in
/// names of nodes become underscores.
class UniqueNames {
 public:
  std::string make(const std::string& wanted);

 private:
  std::set<std::string> used_;
};

/// Translates the operations of a pass, each into one or several nodes.
class GraphLowering {
 public:
  using Sizes = std::vector<int64_t>;

  GraphLowering(const std::vector<PassOp>& ops, const saved_model::TraceOptions& options);
  /// Throws  UnimplementedError that names an operation without a counterpart.
  saved_model::InferenceGraph run();

 private:
  using Attributes = saved_model::GraphAttributes;
  using Node = saved_model::InferenceNode;

  // Nodes; each function gives the place of the one it made.
  int add(const std::string& op, std::vector<int> inputs, Sizes shape, DType dtype,
          Attributes attributes = {});
  int constant(const Tensor& value, const std::string& name = {}, const Variable& variable = {});
  int number(double value, DType dtype = DType::Float32);
  int unary(const std::string& op, int x, Attributes attributes = {});
  int binary(const std::string& op, int a, int b);
  int reshape(int x, const Sizes& shape);
  int transpose(int x, const Sizes& permutation);
  const Node& node(int place) const { return graph_.nodes[size_t(place)]; }
  int rank(int place) const { return int(node(place).shape.size()); }

  // The operation being translated.
  int in(size_t i) const { return op_->inputs[i] < 0 ? -1 : places_[size_t(op_->inputs[i])]; }
  bool has(size_t i) const { return i < op_->inputs.size() && op_->inputs[i] >= 0; }
  int64_t integer(const char* key) const;
  float real(const char* key) const;
  const Sizes& list(const char* key) const;
  [[noreturn]] void refuse(const std::string& reason) const;

  int lower();
  int lower_simple();
  int with_epilogue(int y);
  int convolution(bool depthwise);
  int pool(const char* op);
  int average_pool();
  int dense();
  int matmul();
  int fused_batch_norm();
  int batch_norm_formula(int x, int mean, int variance, int offset, int scale);
  int layer_norm();
  int activation();
  int clip();
  int reduction(const char* op);
  int slice();
  int pad();
  int softmax(const char* op);
  int broadcast();
  int one_hot();
  int gather();
  int cast();
  std::string scope() const;

  const std::vector<PassOp>& ops_;
  const saved_model::TraceOptions& options_;
  saved_model::InferenceGraph graph_;
  UniqueNames names_;
  std::vector<int> places_;  // nodes, by operation
  const PassOp* op_ = nullptr;
};

}  // namespace distribute::saved_model_internal

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/saved_model/impl/lowering.ipp>
#endif
