#pragma once
#include <distribute/base/error.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/saved_model/detail/operation_names.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/tensor/tensorflow_data_type.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace distribute::saved_model_internal {

inline constexpr int64_t kLargestMessage = std::numeric_limits<int32_t>::max();

using io::Presence;
using io::ProtoWriter;
using saved_model::GraphAttribute;
using saved_model::InferenceNode;

/// The AttrValue of a type.
DISTRIBUTE_INLINE std::string type_attribute(io::DataType type) {
  return ProtoWriter().integer(6, int64_t(type), Presence::Always).take();
}
DISTRIBUTE_INLINE std::string type_attribute(DType dtype) {
  return type_attribute(io::data_type_of(dtype));
}

/// AttrValue.
DISTRIBUTE_INLINE std::string attribute_value(const GraphAttribute& attribute) {
  ProtoWriter value;
  if (const auto* text = std::get_if<std::string>(&attribute))
    value.message(2, *text);
  else if (const auto* integer = std::get_if<int64_t>(&attribute))
    value.integer(3, *integer, Presence::Always);
  else if (const auto* real = std::get_if<float>(&attribute))
    value.float32(4, *real, Presence::Always);
  else if (const auto* truth = std::get_if<bool>(&attribute))
    value.integer(5, *truth, Presence::Always);
  else if (const auto* dtype = std::get_if<DType>(&attribute))
    return type_attribute(*dtype);
  else
    value.message(1, ProtoWriter().packed_integers(3, std::get<std::vector<int64_t>>(attribute)));
  return value.take();
}

DISTRIBUTE_INLINE std::string shape_attribute(const std::vector<int64_t>& sizes) {
  return ProtoWriter().message(7, io::shape_proto(sizes)).take();
}

/// The start of a TensorProto.
DISTRIBUTE_INLINE ProtoWriter tensor_head(io::DataType type, std::span<const int64_t> sizes) {
  return ProtoWriter().integer(1, int64_t(type)).message(2, io::shape_proto(sizes));
}

DISTRIBUTE_INLINE std::string tensor_attribute(const Tensor& tensor) {
  const size_t size = size_t(tensor.num_elements() * size_of(tensor.dtype()));
  const auto proto = tensor_head(io::data_type_of(tensor.dtype()), tensor.shape().dims())
                         .bytes(4, {tensor.array().bytes(), size});
  return ProtoWriter().message(8, proto).take();
}

/// A string tensor; `dims` {} for a scalar.
DISTRIBUTE_INLINE std::string strings_attribute(const std::vector<int64_t>& dims,
                                                const std::vector<std::string>& texts) {
  ProtoWriter proto = tensor_head(io::DataType::String, dims);
  for (const std::string& text : texts) proto.message(8, text);
  return ProtoWriter().message(8, proto).take();
}

using EncodedAttributes = std::map<std::string, std::string>;

/// Writes the nodes one after the other.
class GraphDefWriter {
 public:
  GraphDefWriter(const saved_model::InferenceGraph& graph, saved_model::Weights weights)
      : graph_(graph), with_variables_(weights == saved_model::Weights::Variables) {
    for (const InferenceNode& node : graph.nodes) names_.make(node.name);
  }

  saved_model::GraphDef run() {
    if (!with_variables_ && graph_.constant_bytes() > kLargestMessage - (int64_t{16} << 20))
      throw InvalidArgumentError(str_cat(
          "export: the constants take ", graph_.constant_bytes(), " bytes, and one file of ",
          "a graph holds less than 2 GiB; save with Weights::Variables"));
    for (const InferenceNode& node : graph_.nodes) outputs_.push_back(write(node));
    if (!saved_.empty()) write_saver();
    // TensorFlow 2.3: nothing newer is used.
    out_.message(4, ProtoWriter().integer(1, 440).integer(2, 12));
    std::sort(saved_.begin(), saved_.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return {out_.take(), std::move(saved_)};
  }

 private:
  std::string emit(const std::string& name, const std::string& op,
                   const std::vector<std::string>& inputs, const EncodedAttributes& attributes) {
    ProtoWriter proto;
    proto.bytes(1, name).bytes(2, op);
    for (const std::string& input : inputs) proto.bytes(3, input);
    for (const auto& [key, value] : attributes) proto.message(5, io::map_entry_proto(key, value));
    out_.message(1, proto);
    return name;
  }

  std::string emit_constant(const std::string& name, const Tensor& value) {
    return emit(name, "Const", {},
                {{"dtype", type_attribute(value.dtype())}, {"value", tensor_attribute(value)}});
  }
  void emit_texts(const std::string& name, const std::vector<int64_t>& dims,
                  const std::vector<std::string>& texts) {
    emit(name, "Const", {},
         {{"dtype", type_attribute(io::DataType::String)},
          {"value", strings_attribute(dims, texts)}});
  }

  std::string write(const InferenceNode& node);
  std::string write_window(const InferenceNode& node, std::vector<std::string> inputs);
  std::string write_variable(const InferenceNode& node);
  void write_saver();
  void write_restore(const std::string& types);
  std::string write_list(const std::string& name, const std::vector<int64_t>& values);
  std::string write_scalar(const std::string& name, int64_t value);
  void move_lists(const InferenceNode& node, std::vector<std::string>& inputs,
                  EncodedAttributes& attributes);
  std::string write_end(const InferenceNode& node, EncodedAttributes& attributes);
  EncodedAttributes types_of(const InferenceNode& node) const;
  const InferenceNode& input(const InferenceNode& node, size_t i) const {
    return graph_.nodes[size_t(node.inputs[i])];
  }

  const saved_model::InferenceGraph& graph_;
  const bool with_variables_;
  UniqueNames names_;
  std::vector<std::string> outputs_;  // of the nodes
  std::vector<InferenceNode> saved_;
  ProtoWriter out_;
};

/// The attributes that say types; most operations have one, "T".
DISTRIBUTE_INLINE EncodedAttributes GraphDefWriter::types_of(const InferenceNode& node) const {
  const std::string& op = node.op;
  const std::string own = type_attribute(node.dtype);
  const std::string first = node.inputs.empty() ? own : type_attribute(input(node, 0).dtype);
  if (op == "LogicalAnd" || op == "LogicalOr" || op == "Any" || op == "All") return {};
  if (op == "Cast") return {{"SrcT", first}, {"DstT", own}};
  if (op == "FusedBatchNormV3") return {{"T", first}, {"U", first}};
  if (op == "GatherV2")
    return {{"Tparams", first},
            {"Tindices", type_attribute(input(node, 1).dtype)},
            {"Taxis", type_attribute(DType::Int32)}};
  if (op == "OneHot") return {{"T", own}, {"TI", first}};
  if (op == "SelectV2" || op == "Conv2DBackpropInput") return {{"T", own}};
  if (op == "StridedSlice") return {{"T", first}, {"Index", type_attribute(DType::Int32)}};
  if (op == "ConcatV2") return {{"T", first}, {"N", attribute_value(int64_t(node.inputs.size()))}};
  return {{"T", first}};
}

DISTRIBUTE_INLINE std::string GraphDefWriter::write_list(const std::string& name,
                                                         const std::vector<int64_t>& values) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return emit_constant(names_.make(name), Tensor({int64_t(narrow.size())}, narrow));
}

DISTRIBUTE_INLINE std::string GraphDefWriter::write_scalar(const std::string& name, int64_t value) {
  return emit_constant(names_.make(name), Tensor(int32_t(value)));
}

/// Converts attributes that TensorFlow takes as inputs: shapes, axes, paddings.
DISTRIBUTE_INLINE void GraphDefWriter::move_lists(const InferenceNode& node,
                                                  std::vector<std::string>& inputs,
                                                  EncodedAttributes& attributes) {
  const auto take = [&](const char* key) {
    attributes.erase(key);
    return write_list(node.name + "/" + key,
                      std::get<std::vector<int64_t>>(node.attributes.at(key)));
  };
  const auto take_number = [&](const char* key) {
    attributes.erase(key);
    return write_scalar(node.name + "/" + key, std::get<int64_t>(node.attributes.at(key)));
  };
  const std::string& op = node.op;
  if (op == "Reshape") inputs.push_back(take("shape"));
  if (op == "Transpose") inputs.push_back(take("perm"));
  if (node.attributes.contains("axes")) inputs.push_back(take("axes"));
  if (op == "TopKV2") inputs.push_back(take_number("k"));
  if (op == "GatherV2" || op == "ConcatV2" || op == "ArgMax" || op == "ArgMin")
    inputs.push_back(take_number("axis"));
  if (op == "OneHot") inputs.insert(inputs.begin() + 1, take_number("depth"));
  if (op == "PadV2") {
    attributes.erase("paddings");
    const auto& edges = std::get<std::vector<int64_t>>(node.attributes.at("paddings"));
    const std::vector<int32_t> narrow(edges.begin(), edges.end());
    inputs.insert(inputs.begin() + 1,
                  emit_constant(names_.make(node.name + "/paddings"),
                                Tensor({int64_t(edges.size()) / 2, 2}, narrow)));
  }
  if (op == "StridedSlice") {
    inputs.push_back(take("begin"));
    inputs.push_back(write_end(node, attributes));
    inputs.push_back(take("strides"));
  }
}

/// The ends of a slice; those that are open, that is as far as the axis goes, become masks.
DISTRIBUTE_INLINE std::string GraphDefWriter::write_end(const InferenceNode& node,
                                                        EncodedAttributes& attributes) {
  int64_t begin_mask = 0, end_mask = 0;
  const auto& begin = std::get<std::vector<int64_t>>(node.attributes.at("begin"));
  auto end = std::get<std::vector<int64_t>>(node.attributes.at("end"));
  for (size_t i = 0; i < end.size(); ++i) {
    if (std::abs(end[i]) != std::numeric_limits<int32_t>::max()) continue;
    end_mask |= int64_t{1} << i;
    if (begin[i] == 0 && end[i] > 0) begin_mask |= int64_t{1} << i;
    end[i] = 0;
  }
  attributes.erase("end");
  if (begin_mask) attributes["begin_mask"] = attribute_value(begin_mask);
  if (end_mask) attributes["end_mask"] = attribute_value(end_mask);
  return write_list(node.name + "/end", end);
}

DISTRIBUTE_INLINE std::string GraphDefWriter::write(const InferenceNode& node) {
  if (node.op == "Const") {
    if (with_variables_ && node.variable) return write_variable(node);
    return emit_constant(node.name, node.value);
  }
  if (node.op == "Placeholder")
    return emit(node.name, "Placeholder", {},
                {{"dtype", type_attribute(node.dtype)}, {"shape", shape_attribute(node.shape)}});
  if (node.op == saved_model::kSecondResult) return outputs_[size_t(node.inputs[0])] + ":1";
  std::vector<std::string> inputs;
  for (const int place : node.inputs) inputs.push_back(outputs_[size_t(place)]);
  if (node.attributes.contains("padding") || (node.op == "MatMul" && inputs.size() == 3))
    return write_window(node, std::move(inputs));
  EncodedAttributes attributes = types_of(node);
  for (const auto& [key, value] : node.attributes) attributes[key] = attribute_value(value);
  move_lists(node, inputs, attributes);
  return emit(node.name, node.op, inputs, attributes);
}

/// Convolutions and pools, whose explicit paddings become a node before; and biases, which become
/// one after.
DISTRIBUTE_INLINE std::string GraphDefWriter::write_window(const InferenceNode& node,
                                                           std::vector<std::string> inputs) {
  EncodedAttributes attributes = types_of(node);
  for (const auto& [key, value] : node.attributes)
    if (key != "explicit_paddings") attributes[key] = attribute_value(value);
  if (const auto found = node.attributes.find("explicit_paddings");
      found != node.attributes.end()) {
    InferenceNode pad{names_.make(node.name + "/Pad"),
                      "PadV2",
                      {node.inputs[0]},
                      {{"paddings", found->second}},
                      node.dtype};
    // The padding of a maximum never wins.
    const float value = node.op == "MaxPool" ? std::numeric_limits<float>::lowest() : 0.0f;
    std::vector<std::string> padded{inputs[0],
                                    emit_constant(names_.make(pad.name + "/value"), Tensor(value))};
    EncodedAttributes types = types_of(pad);
    move_lists(pad, padded, types);
    inputs[0] = emit(pad.name, pad.op, padded, types);
    attributes["padding"] = attribute_value(std::string("VALID"));
  }
  std::string bias;
  if (inputs.size() == 3 && node.op != "Conv2DBackpropInput") {
    bias = inputs[2];
    inputs.pop_back();
  }
  const std::string y = emit(node.name, node.op, inputs, attributes);
  if (bias.empty()) return y;
  const std::string name = io::join_path(io::directory_of(node.name), "BiasAdd");
  return emit(names_.make(name), "BiasAdd", {y, bias}, {{"T", type_attribute(node.dtype)}});
}

DISTRIBUTE_INLINE std::string GraphDefWriter::write_variable(const InferenceNode& node) {
  const std::string type = type_attribute(node.dtype);
  emit(node.name, "VarHandleOp", {},
       {{"dtype", type},
        {"shape", shape_attribute(node.shape)},
        {"shared_name", attribute_value(node.name)}});
  ProtoWriter zeros = tensor_head(io::data_type_of(node.dtype), node.shape);
  const uint32_t field = node.dtype == DType::Float32 ? 5 : node.dtype == DType::Int64 ? 10 : 7;
  if (field == 5)
    zeros.packed_floats(5, std::vector<float>{0});
  else
    zeros.packed_integers(field, std::vector<int64_t>{0});
  emit(node.name + "/Initializer/zeros", "Const", {},
       {{"dtype", type}, {"value", ProtoWriter().message(8, zeros).take()}});
  emit(node.name + "/Assign", "AssignVariableOp", {node.name, node.name + "/Initializer/zeros"},
       {{"dtype", type}});
  saved_.push_back(node);
  return emit(node.name + "/Read/ReadVariableOp", "ReadVariableOp", {node.name}, {{"dtype", type}});
}

/// The operations that write the variables' file, and those that read it.
DISTRIBUTE_INLINE void GraphDefWriter::write_saver() {
  std::vector<std::string> names, reads{saved_model::kSaverFilename, "save/SaveV2/tensor_names",
                                        "save/SaveV2/shape_and_slices"};
  std::vector<int64_t> numbers;
  for (const InferenceNode& node : saved_) {
    names.push_back(node.name);
    reads.push_back(node.name + "/Read/ReadVariableOp");
    numbers.push_back(int64_t(io::data_type_of(node.dtype)));
  }
  const auto types = ProtoWriter().message(1, ProtoWriter().packed_integers(6, numbers)).take();
  emit_texts(saved_model::kSaverFilename, {}, {"model"});
  const std::vector<int64_t> count{int64_t(names.size())};
  const std::vector<std::string> whole(names.size());
  for (const std::string op : {"SaveV2", "RestoreV2"}) {
    emit_texts("save/" + op + "/tensor_names", count, names);
    emit_texts("save/" + op + "/shape_and_slices", count, whole);
  }
  emit("save/SaveV2", "SaveV2", reads, {{"dtypes", types}});
  emit(saved_model::kSaverControl, "Identity", {saved_model::kSaverFilename, "^save/SaveV2"},
       {{"T", type_attribute(io::DataType::String)}});
  write_restore(types);
}

DISTRIBUTE_INLINE void GraphDefWriter::write_restore(const std::string& types) {
  emit("save/RestoreV2", "RestoreV2",
       {saved_model::kSaverFilename, "save/RestoreV2/tensor_names",
        "save/RestoreV2/shape_and_slices"},
       {{"dtypes", types}});
  std::vector<std::string> assigned;
  for (size_t i = 0; i < saved_.size(); ++i) {
    const std::string from = i == 0 ? std::string("save/RestoreV2") : str_cat("save/RestoreV2:", i);
    const std::string name = i == 0 ? std::string("save/Assign") : str_cat("save/Assign_", i);
    emit(name, "AssignVariableOp", {saved_[i].name, from},
         {{"dtype", type_attribute(saved_[i].dtype)}});
    assigned.push_back("^" + name);
  }
  emit(saved_model::kSaverRestore, "NoOp", assigned, {});
}

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

DISTRIBUTE_INLINE GraphDef encode_graph_def(const InferenceGraph& graph, Weights weights) {
  return saved_model_internal::GraphDefWriter(graph, weights).run();
}

}  // namespace distribute::saved_model
