#pragma once
#include <distribute/saved_model/detail/onnx_graph.hpp>
#include <distribute/saved_model/detail/operation_names.hpp>

#include <unordered_map>

namespace distribute::saved_model_internal {

using OnnxWrite = OnnxValue (*)(OnnxBuilder&);

/// Makes one node with the same operands as in NHWC.
DISTRIBUTE_INLINE OnnxValue onnx_plain(OnnxBuilder& b, const std::string& op,
                                       const OnnxBuilder::Names& more = {},
                                       const OnnxAttributes& attributes = {}) {
  OnnxBuilder::Names inputs;
  for (size_t i = 0; i < b.now().inputs.size(); ++i) inputs.push_back(b.plain(i));
  inputs.insert(inputs.end(), more.begin(), more.end());
  return {.plain = b.emit(op, inputs, b.now().name, attributes)};
}

/// Returns the function for an operation that is not only renamed.
DISTRIBUTE_INLINE OnnxWrite onnx_write_of(const std::string& op) {
  using B = OnnxBuilder;
  using A = OnnxAttributes;
  static const std::unordered_map<std::string, OnnxWrite> methods = {
      {"Const", [](B&) { return OnnxValue(); }},  // written in the form that its user asks for
      {"Placeholder", [](B& b) { return OnnxValue{.plain = b.now().name}; }},
      {"Identity", [](B& b) { return onnx_plain(b, "Identity"); }},
      {"LeakyRelu",
       [](B& b) { return onnx_elementwise(b, "LeakyRelu", A().real("alpha", b.real("alpha"))); }},
      {"Cast",
       [](B& b) {
         return onnx_elementwise(b, "Cast", A().integer("to", onnx_type(b.now().dtype)));
       }},
      {"Conv2D", onnx_convolution},
      {"DepthwiseConv2dNative", onnx_convolution},
      {"Conv2DBackpropInput", onnx_transposed_convolution},
      {"MaxPool", onnx_pool},
      {"AvgPool", onnx_pool},
      {"FusedBatchNormV3", onnx_batch_norm},
      {"MatMul", onnx_matmul},
      {"BatchMatMulV2", onnx_batch_matmul},
      {"StridedSlice", onnx_slice},
      {"PadV2", onnx_pad},
      {"ConcatV2", onnx_concat_values},
      {"OneHot", onnx_one_hot},
      {"Sum", onnx_reduction},
      {"Mean", onnx_reduction},
      {"Prod", onnx_reduction},
      {"Max", onnx_reduction},
      {"Min", onnx_reduction},
      {"Any", onnx_bool_reduction},
      {"All", onnx_bool_reduction},
      {"DivNoNan", onnx_divide_no_nan},
      {"FloorDiv", onnx_floor_divide},
      {"FloorMod", onnx_floor_modulo},
      {"TopKV2", onnx_top_k},
      {saved_model::kSecondResult, onnx_second_result},
      {"Reshape",
       [](B& b) {
         return onnx_plain(b, "Reshape", {b.integers(b.now().name + "/shape", b.list("shape"))});
       }},
      {"Transpose",
       [](B& b) { return onnx_plain(b, "Transpose", {}, A().list("perm", b.list("perm"))); }},
      {"Softmax", [](B& b) { return onnx_plain(b, "Softmax", {}, A().integer("axis", -1)); }},
      {"LogSoftmax", [](B& b) { return onnx_plain(b, "LogSoftmax", {}, A().integer("axis", -1)); }},
      {"GatherV2",
       [](B& b) { return onnx_plain(b, "Gather", {}, A().integer("axis", b.integer("axis"))); }},
      {"ArgMax", onnx_arg_extreme},
      {"ArgMin", onnx_arg_extreme}};
  const auto found = methods.find(op);
  return found == methods.end() ? nullptr : found->second;
}

DISTRIBUTE_INLINE OnnxValue onnx_value(OnnxBuilder& b) {
  const std::string& op = b.now().op;
  if (const std::string same = onnx_same_operation(op); !same.empty())
    return onnx_elementwise(b, same);
  const OnnxWrite write = onnx_write_of(op);
  return write ? write(b) : onnx_composite(b);
}

DISTRIBUTE_INLINE OnnxGraph onnx_graph(const saved_model::InferenceGraph& graph) {
  OnnxBuilder builder(graph);
  for (const saved_model::InferenceNode& node : graph.nodes) {
    builder.begin(node);
    builder.end(onnx_value(builder));
  }
  return builder.finish();
}

}  // namespace distribute::saved_model_internal
