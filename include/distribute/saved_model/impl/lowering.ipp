#pragma once
#include <distribute/base/error.hpp>
#include <distribute/saved_model/detail/graph_builder.hpp>
#include <distribute/saved_model/detail/lowering.hpp>
#include <distribute/saved_model/saved_model.hpp>

#include <algorithm>
#include <unordered_map>

namespace distribute::saved_model_internal {

using Lower = int (*)(GraphBuilder&);

/// Returns the function for an operation that is not only renamed.
DISTRIBUTE_INLINE Lower lowering_of(const std::string& op) {
  using B = GraphBuilder;
  static const std::unordered_map<std::string, Lower> methods = {
      {"input", [](B& b) { return b.input(); }},
      {"variable",
       [](B& b) { return b.constant(b.op().value, b.op().variable.name(), b.op().variable); }},
      {"constant", [](B& b) { return b.constant(b.op().value); }},
      {"stop_gradient", [](B& b) { return b.in(0); }},
      {"copy", [](B& b) { return b.in(0); }},
      {"cast", lower_cast},
      {"conv2d", [](B& b) { return lower_convolution(b, false); }},
      {"depthwise_conv2d", [](B& b) { return lower_convolution(b, true); }},
      {"conv2d_transpose", lower_transposed_convolution},
      {"max_pool2d", [](B& b) { return lower_pool(b, "MaxPool"); }},
      {"avg_pool2d", lower_average_pool},
      {"batch_normalization", lower_batch_norm},
      {"fused_batch_norm", lower_fused_batch_norm},
      {"layer_normalization", lower_layer_norm},
      {"dense", lower_dense},
      {"matmul", lower_matmul},
      {"gelu", lower_activation},
      {"gelu_approximate", lower_activation},
      {"silu", lower_activation},
      {"leaky_relu",
       [](B& b) {
         return b.unary("LeakyRelu", b.in(0), {{"alpha", b.real("alpha")}});
       }},
      {"softmax", [](B& b) { return lower_softmax(b, "Softmax"); }},
      {"log_softmax", [](B& b) { return lower_softmax(b, "LogSoftmax"); }},
      {"clip_by_value", lower_clip},
      {"where", [](B& b) { return b.add("SelectV2", b.inputs(), b.op().shape, b.dtype()); }},
      {"reduce_sum", [](B& b) { return lower_reduction(b, "Sum"); }},
      {"reduce_mean", [](B& b) { return lower_reduction(b, "Mean"); }},
      {"reduce_prod", [](B& b) { return lower_reduction(b, "Prod"); }},
      {"reduce_max", [](B& b) { return lower_reduction(b, "Max"); }},
      {"reduce_min", [](B& b) { return lower_reduction(b, "Min"); }},
      {"reduce_any", [](B& b) { return lower_reduction(b, "Any"); }},
      {"reduce_all", [](B& b) { return lower_reduction(b, "All"); }},
      {"argmax", [](B& b) { return lower_along_axis(b, "ArgMax"); }},
      {"argmin", [](B& b) { return lower_along_axis(b, "ArgMin"); }},
      {"concat", lower_concat},
      {"reshape", [](B& b) { return b.reshape(b.in(0), b.op().shape); }},
      {"transpose", [](B& b) { return b.transpose(b.in(0), b.list("permutation")); }},
      {"slice", lower_slice},
      {"put_slice", lower_pad},
      {"broadcast_to", lower_broadcast},
      {"one_hot", lower_one_hot},
      {"top_k",
       [](B& b) {
         return b.add("TopKV2", {b.in(0)}, b.op().shape, b.dtype(), {{"k", b.integer("k")}});
       }},
      {"top_k_indices",
       [](B& b) { return b.add(saved_model::kSecondResult, {b.in(0)}, b.op().shape, b.dtype()); }},
      {"gather", lower_gather}};
  const auto found = methods.find(op);
  return found == methods.end() ? nullptr : found->second;
}

DISTRIBUTE_INLINE int lower_operation(GraphBuilder& b) {
  if (const std::string same = same_operation(b.op().name); !same.empty())
    return b.add(same, b.inputs(), b.op().shape, b.dtype());
  const Lower lower = lowering_of(b.op().name);
  if (!lower) b.refuse(kNoCounterpart, kLeaveOut);
  return lower(b);
}

DISTRIBUTE_INLINE saved_model::InferenceGraph lower_pass(const std::vector<PassOp>& ops,
                                                         const saved_model::TraceOptions& options) {
  GraphBuilder builder(ops, options);
  for (const PassOp& op : ops) {
    builder.begin(op);
    builder.end(op.name == kOutput ? builder.output(op.layer, builder.in(0))
                                   : lower_operation(builder));
  }
  return builder.finish();
}

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

DISTRIBUTE_INLINE InferenceGraph trace_inference(const InferenceFunction& function,
                                                 const TraceOptions& options) {
  return trace_inference(
      [&](const Tensor& x) {
        return std::map<std::string, Tensor>{{"", function(x)}};
      },
      options);
}

DISTRIBUTE_INLINE InferenceGraph trace_inference(const NamedOutputsFunction& function,
                                                 const TraceOptions& options) {
  TraceOptions named = options;
  named.inputs = {{options.input_name, options.input}};
  return trace_inference(
      [&](const NamedTensors& inputs) { return function(inputs.begin()->second); }, named);
}

DISTRIBUTE_INLINE InferenceGraph trace_inference(const NamedFunction& function,
                                                 const TraceOptions& options) {
  if (options.inputs.empty())
    throw InvalidArgumentError("export: the function has no inputs; give the option `inputs`");
  for (const auto& [key, spec] : options.inputs)
    if (spec.shape.empty() || std::count(spec.shape.begin() + 1, spec.shape.end(), -1) > 0)
      throw InvalidArgumentError(
          str_cat("export: the input must be [batch, ...] with all other sizes known, got ",
                  data::to_string({spec}), options.inputs.size() > 1 ? " of '" + key + "'" : ""));
  const auto ops = saved_model_internal::compare_passes(function, options.inputs);
  return saved_model_internal::lower_pass(ops, options);
}

}  // namespace distribute::saved_model
