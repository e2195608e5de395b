#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saved_model/detail/graph_builder.hpp>

#include <algorithm>
#include <utility>

namespace distribute::saved_model_internal {

/// Sizes of a and b broadcast; one that follows the batch stays so.
DISTRIBUTE_INLINE std::vector<int64_t> broadcast_sizes(const std::vector<int64_t>& a,
                                                       const std::vector<int64_t>& b) {
  std::vector<int64_t> result(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= result.size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    result[result.size() - i] = x == 1 ? y : y == 1 ? x : std::min(x, y);
  }
  return result;
}

DISTRIBUTE_INLINE GraphBuilder::GraphBuilder(const std::vector<PassOp>& ops,
                                             const saved_model::TraceOptions& options)
    : ops_(ops), options_(options) {
  std::vector<std::string> names;
  for (const auto& [key, spec] : options.inputs) names.push_back(key);
  const size_t inputs = names.size();
  for (const PassOp& op : ops)
    if (op.name == kOutput) names.push_back(op.layer);
  if (names.size() == inputs) names.push_back(options.output_name);
  for (size_t in = 0; in < inputs; ++in)
    for (size_t out = inputs; out < names.size(); ++out)
      if (names[in].empty() || names[in] == names[out])
        throw InvalidArgumentError(str_cat("export: input and output need names that differ, got '",
                                           names[in], "' and '", names[out], "'"));
  for (const std::string& name : names)
    if (names_.make(name) != name)
      throw InvalidArgumentError(str_cat("export: '", name, "' cannot be the name of an input or ",
                                         "output; use letters, digits, '_', '-' and '.'"));
}

DISTRIBUTE_INLINE saved_model::InferenceGraph GraphBuilder::finish() {
  graph_.output = graph_.outputs.empty() ? output(options_.output_name, places_.back())
                                         : graph_.outputs.begin()->second;
  return std::move(graph_);
}

DISTRIBUTE_INLINE int GraphBuilder::output(const std::string& key, int place) {
  const Node& from = node(place);
  graph_.nodes.push_back({key, "Identity", {place}, {}, from.dtype, from.shape});
  return graph_.outputs[key] = int(graph_.nodes.size()) - 1;
}

DISTRIBUTE_INLINE std::vector<int> GraphBuilder::inputs() const {
  std::vector<int> places;
  for (size_t i = 0; i < op_->inputs.size(); ++i) places.push_back(in(i));
  return places;
}

DISTRIBUTE_INLINE void GraphBuilder::refuse(const std::string& reason,
                                            const std::string& cure) const {
  const std::string at = op_->layer.empty() ? scope() : op_->layer;
  throw UnimplementedError(str_cat("export: operation '", op_->name, "'",
                                   at.empty() ? "" : " of layer '" + at + "'", " ", reason, "; ",
                                   cure));
}

DISTRIBUTE_INLINE int64_t GraphBuilder::integer(const char* key) const {
  const auto found = op_->attributes.find(key);
  if (found == op_->attributes.end()) refuse(kNoCounterpart, kLeaveOut);
  return std::get<int64_t>(found->second);
}
DISTRIBUTE_INLINE float GraphBuilder::real(const char* key) const {
  const auto found = op_->attributes.find(key);
  if (found == op_->attributes.end()) refuse(kNoCounterpart, kLeaveOut);
  return float(std::get<double>(found->second));
}
DISTRIBUTE_INLINE const Sizes& GraphBuilder::list(const char* key) const {
  const auto found = op_->attributes.find(key);
  if (found == op_->attributes.end()) refuse(kNoCounterpart, kLeaveOut);
  return std::get<Sizes>(found->second);
}

/// Returns the scope of this operation's weight: "conv1" for "conv1/kernel".
DISTRIBUTE_INLINE std::string GraphBuilder::scope() const {
  for (int input : op_->inputs) {
    if (input < 0) continue;
    const PassOp* from = &ops_[size_t(input)];
    while (from->name == "cast" || from->name == "copy" || from->name == "reshape")
      from = &ops_[size_t(from->inputs[0])];
    if (from->variable) return io::directory_of(from->variable.name());
  }
  return "";
}

DISTRIBUTE_INLINE int GraphBuilder::add(const std::string& op, std::vector<int> inputs, Sizes shape,
                                        DType dtype, Attributes attributes) {
  const std::string at = scope();
  graph_.nodes.push_back({names_.make(at.empty() ? op : at + "/" + op), op, std::move(inputs),
                          std::move(attributes), dtype, std::move(shape)});
  return int(graph_.nodes.size()) - 1;
}

DISTRIBUTE_INLINE int GraphBuilder::input() {
  graph_.input = int(graph_.nodes.size());
  graph_.nodes.push_back({op_->layer, "Placeholder", {}, {}, dtype(), op_->shape});
  return graph_.inputs[op_->layer] = graph_.input;
}

DISTRIBUTE_INLINE int GraphBuilder::constant(const Tensor& value, const std::string& name,
                                             const Variable& variable) {
  const Tensor here = value.to(Device{}).row_major();
  const Tensor kept = distribute::cast(here, exported_dtype(here.dtype()));
  graph_.nodes.push_back({.name = names_.make(name.empty() ? "Const" : name),
                          .op = "Const",
                          .inputs = {},
                          .dtype = kept.dtype(),
                          .shape = {kept.shape().begin(), kept.shape().end()},
                          .value = kept,
                          .variable = variable});
  return int(graph_.nodes.size()) - 1;
}

DISTRIBUTE_INLINE int GraphBuilder::number(double value, DType dtype) {
  return constant(fill({}, float(value), dtype, Device{}));
}

DISTRIBUTE_INLINE int GraphBuilder::unary(const std::string& op, int x, Attributes attributes) {
  return add(op, {x}, node(x).shape, node(x).dtype, std::move(attributes));
}

DISTRIBUTE_INLINE int GraphBuilder::binary(const std::string& op, int a, int b) {
  return add(op, {a, b}, broadcast_sizes(node(a).shape, node(b).shape), node(a).dtype);
}

DISTRIBUTE_INLINE int GraphBuilder::reshape(int x, const Sizes& shape) {
  if (node(x).shape == shape && std::count(shape.begin(), shape.end(), -1) < 2) return x;
  if (std::count(shape.begin(), shape.end(), -1) > 1)
    refuse("needs a shape of which more than one size follows the batch",
           "merge axes so that one size follows it");
  return add("Reshape", {x}, shape, node(x).dtype, {{"shape", shape}});
}

DISTRIBUTE_INLINE int GraphBuilder::transpose(int x, const Sizes& permutation) {
  Sizes shape;
  for (const int64_t axis : permutation) shape.push_back(node(x).shape[size_t(axis)]);
  return add("Transpose", {x}, shape, node(x).dtype, {{"perm", permutation}});
}

DISTRIBUTE_INLINE int GraphBuilder::with_epilogue(int y) {
  return Epilogue(integer("epilogue")) == Epilogue::Relu ? unary("Relu", y) : y;
}

}  // namespace distribute::saved_model_internal
