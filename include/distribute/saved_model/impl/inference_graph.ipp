#pragma once
#include <distribute/base/error.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <cstring>
#include <unordered_map>
#include <utility>

namespace distribute::saved_model_internal {

/// A run of the function: its inputs and outputs by their keys, "" of a single output, and its
/// operations.
struct Pass {
  explicit Pass(saved_model::NamedTensors examples) : inputs(std::move(examples)) {}
  /// Returns the key of an input, and null for another tensor.
  const std::string* input_key(const Tensor& x) const {
    for (const auto& [key, input] : inputs)
      if (input.id() == x.id()) return &key;
    return nullptr;
  }

  saved_model::NamedTensors inputs, outputs;
  OpTrace trace;
};

/// Numbers in [0, 1) that differ from pass to pass; ids stay 0, which every table has.
DISTRIBUTE_INLINE Tensor example_input(const data::TensorSpec& spec, int64_t batch) {
  std::vector<int64_t> sizes = spec.shape;
  sizes[0] = batch;
  const Shape shape{std::span<const int64_t>(sizes)};
  if (!is_floating(spec.dtype)) return fill(shape, 0, spec.dtype);
  std::vector<float> values(size_t(shape.num_elements()));
  uint32_t state = uint32_t(batch);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;  // Knuth's
    value = float(state >> 8) / float(1 << 24);
  }
  return Tensor(shape, values);
}

DISTRIBUTE_INLINE void run_pass(const saved_model::NamedFunction& function, Pass& pass) {
  const replica_internal::ModeScope cross_replica({});
  pass.outputs = function(pass.inputs);
  if (pass.outputs.empty()) throw InvalidArgumentError("export: the function gave no tensor");
  for (const auto& [key, output] : pass.outputs)
    if (!output) throw InvalidArgumentError("export: the function gave no tensor");
}

DISTRIBUTE_INLINE bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.id() == b.id()) return true;
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const Tensor x = a.to(Device{}).row_major(), y = b.to(Device{}).row_major();
  const size_t bytes = size_t(x.num_elements() * size_of(x.dtype()));
  return bytes == 0 || std::memcmp(x.array().bytes(), y.array().bytes(), bytes) == 0;
}

/// Walks both passes from their results, side by side.
class PassComparison {
 public:
  PassComparison(const Pass& a, const Pass& b) : a_(a), b_(b) {}

  std::vector<PassOp> run() {
    std::map<std::string, int> places;
    if (a_.inputs.size() > 1)  // also those that nothing reads
      for (const auto& [key, input] : a_.inputs) visit(input, b_.inputs.at(key));
    for (const auto& [key, output] : a_.outputs) {
      const auto other = b_.outputs.find(key);
      if (other == b_.outputs.end()) differ(output, "output '" + key + "'");
      places[key] = visit(output, other->second);
    }
    for (const auto& [key, place] : places)
      if (!key.empty()) ops_.push_back({.name = kOutput, .inputs = {place}, .layer = key});
    return std::move(ops_);
  }

 private:
  [[noreturn]] void differ(const Tensor& a, const std::string& what) const {
    throw InvalidArgumentError(
        str_cat("export: ", what, " (a tensor of ", to_string(a.shape()), " ", name_of(a.dtype()),
                ") differs between two passes: the graph of the function must not depend on its ",
                "input, and all that it computes must be operations that can be followed"));
  }
  [[noreturn]] void differ(const TracedOp& a, const std::string& what) const {
    differ(a.output, str_cat(what, " of operation '", a.name, "'", at_layer(a)));
  }

  static std::string at_layer(const TracedOp& op) {
    return op.layer.empty() ? "" : str_cat(" of layer '", op.layer, "'");
  }

  static std::vector<int64_t> merged(std::span<const int64_t> a, std::span<const int64_t> b) {
    std::vector<int64_t> sizes(a.begin(), a.end());
    for (size_t i = 0; i < sizes.size(); ++i)
      if (a[i] != b[i]) sizes[i] = -1;
    return sizes;
  }

  OpAttributes merged_attributes(const TracedOp& a, const TracedOp& b) const {
    OpAttributes result = a.attributes;
    for (auto& [key, value] : result) {
      const auto other = b.attributes.find(key);
      if (other == b.attributes.end()) differ(a, str_cat("attribute ", key));
      if (value == other->second) continue;
      const auto* list = std::get_if<std::vector<int64_t>>(&value);
      const auto* others = std::get_if<std::vector<int64_t>>(&other->second);
      if (!list || !others || list->size() != others->size()) differ(a, str_cat("attribute ", key));
      value = merged(*list, *others);
    }
    return result;
  }

  int keep(PassOp op, const Tensor& a, const Tensor& b) {
    if (a.shape().rank() != b.shape().rank() || a.dtype() != b.dtype()) differ(a, op.name);
    op.shape = merged(a.shape().dims(), b.shape().dims());
    op.dtype = a.dtype();
    ops_.push_back(std::move(op));
    return int(ops_.size()) - 1;
  }

  int visit(const Tensor& a, const Tensor& b) {
    const auto known = places_.find(a.id());
    if (known != places_.end()) return known->second;
    const int place = make(a, b);
    places_.emplace(a.id(), place);
    return place;
  }

  int make(const Tensor& a, const Tensor& b) {
    if (const std::string* key = a_.input_key(a)) {
      const std::string* other = b_.input_key(b);
      if (!other || *other != *key) differ(a, "the input");
      PassOp op{.name = "input"};
      op.layer = *key;
      return keep(std::move(op), a, b);
    }
    if (const Variable variable = a_.trace.variable(a)) {
      if (!(b_.trace.variable(b) == variable)) differ(a, "variable '" + variable.name() + "'");
      return keep({.name = "variable", .value = a, .variable = variable}, a, b);
    }
    const TracedOp *op = a_.trace.origin(a), *other = b_.trace.origin(b);
    if (op && other) return make_operation(*op, *other);
    if (op || other || !same_elements(a, b)) {
      const std::string reader =
          reader_ ? str_cat(", read by '", reader_->name, "'", at_layer(*reader_)) : "";
      differ(a, str_cat("a value that no operation gave", reader));
    }
    return keep({.name = "constant", .value = a}, a, b);
  }

  int make_operation(const TracedOp& a, const TracedOp& b) {
    if (a.name != b.name || a.inputs.size() != b.inputs.size())
      differ(a.output, str_cat("operation ", a.name, " or ", b.name, at_layer(a)));
    PassOp op{.name = a.name, .attributes = merged_attributes(a, b), .layer = a.layer};
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      if (bool(a.inputs[i]) != bool(b.inputs[i])) differ(a, "an operand");
      reader_ = &a;
      op.inputs.push_back(a.inputs[i] ? visit(a.inputs[i], b.inputs[i]) : -1);
    }
    return keep(std::move(op), a.output, b.output);
  }

  const Pass &a_, &b_;
  const TracedOp* reader_ = nullptr;  // whose operand is visited
  std::vector<PassOp> ops_;
  std::unordered_map<uint64_t, int> places_;  // of tensors of the first pass
};

DISTRIBUTE_INLINE saved_model::NamedTensors example_inputs(const saved_model::NamedSpecs& specs,
                                                           int64_t batch) {
  saved_model::NamedTensors inputs;
  for (const auto& [key, spec] : specs) inputs[key] = example_input(spec, batch);
  return inputs;
}

DISTRIBUTE_INLINE std::vector<PassOp> compare_passes(const saved_model::NamedFunction& function,
                                                     const saved_model::NamedSpecs& inputs) {
  const auto two = example_inputs(inputs, 2), three = example_inputs(inputs, 3);
  std::optional<Pass> passes[2];
  for (int i = 0; i < 2; ++i) {
    passes[i].emplace(i ? three : two);
    run_pass(function, *passes[i]);
    if (i == 0) passes[0]->trace.stop();
  }
  passes[1]->trace.stop();
  return PassComparison(*passes[0], *passes[1]).run();
}

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

DISTRIBUTE_INLINE int64_t InferenceGraph::constant_bytes() const {
  int64_t bytes = 0;
  for (const InferenceNode& node : nodes)
    if (node.value) bytes += node.value.num_elements() * size_of(node.value.dtype());
  return bytes;
}

DISTRIBUTE_INLINE data::TensorSpec inference_input(const nn::Module& module,
                                                   const std::optional<data::TensorSpec>& given) {
  if (given) return *given;
  const auto spec = module.input_spec();
  if (!spec)
    throw FailedPreconditionError(str_cat(
        "export: module '", module.name(), "' has not been called yet, so the shape of its ",
        "input is not known; call it once, or give the option `input`"));
  data::TensorSpec result{{spec->shape.begin(), spec->shape.end()}, spec->dtype};
  if (!result.shape.empty()) result.shape[0] = -1;
  return result;
}

}  // namespace distribute::saved_model
