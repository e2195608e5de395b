#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/saved_model/detail/graph_runner.hpp>
#include <distribute/saved_model/loaded_model.hpp>

#include <optional>

namespace distribute::saved_model_internal {

/// One input of a signature.
struct SignatureInput {
  NodeOutput place;
  data::TensorSpec spec;
  bool any_rank = false;
};

struct SignatureParts {
  std::string name;  // for messages: file and signature
  std::shared_ptr<const GraphRunner> runner;
  std::map<std::string, SignatureInput> inputs;
  std::map<std::string, NodeOutput> outputs;
};

/// TensorInfo or an entry of a map, still encoded.
using Encoded = std::map<std::string, std::string_view>;

DISTRIBUTE_INLINE void take_entry(Encoded& map, const io::ProtoField& field,
                                  const std::string& file) {
  map.insert(map_entry_of(field.bytes, file));
}

/// The used parts of a MetaGraphDef.
struct MetaGraph {
  std::set<std::string> tags;
  std::string_view graph;
  std::string filename_tensor, restore_operation;
  Encoded signatures;
};

DISTRIBUTE_INLINE MetaGraph decode_meta_graph(std::string_view bytes, const std::string& file) {
  MetaGraph meta;
  read_fields(bytes, file, [&](const io::ProtoField& f) {
    if (f.is(1, io::WireType::Bytes))
      read_fields(f.bytes, file, [&](const io::ProtoField& info) {
        if (info.is(4, io::WireType::Bytes)) meta.tags.emplace(info.bytes);
      });
    if (f.is(2, io::WireType::Bytes)) meta.graph = f.bytes;
    if (f.is(3, io::WireType::Bytes))
      read_fields(f.bytes, file, [&](const io::ProtoField& saver) {
        if (saver.is(1, io::WireType::Bytes)) meta.filename_tensor = saver.bytes;
        if (saver.is(3, io::WireType::Bytes)) meta.restore_operation = saver.bytes;
      });
    if (f.is(5, io::WireType::Bytes)) take_entry(meta.signatures, f, file);
  });
  return meta;
}

DISTRIBUTE_INLINE std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

/// The graph with these tags.
DISTRIBUTE_INLINE MetaGraph find_meta_graph(std::string_view bytes, const std::string& file,
                                            const std::set<std::string>& tags) {
  std::optional<MetaGraph> found;
  std::set<std::string> others;
  read_fields(bytes, file, [&](const io::ProtoField& f) {
    if (!f.is(2, io::WireType::Bytes)) return;
    MetaGraph meta = decode_meta_graph(f.bytes, file);
    others.insert("{" + listed(meta.tags) + "}");
    if (meta.tags == tags && !found) found = std::move(meta);
  });
  if (!found)
    throw NotFoundError(str_cat(file, ": there is no graph with the tags {", listed(tags),
                                "}; there are: ", listed(others)));
  return *found;
}

/// Decodes a TensorInfo: the tensor to which it refers, its dtype and its shape.
DISTRIBUTE_INLINE SignatureInput decode_tensor_info(std::string_view bytes, const RunGraph& graph,
                                                    const std::string& file) {
  SignatureInput input;
  NodeAttribute shape;
  std::string name;
  io::DataType type = io::DataType::Float;
  input.any_rank = true;
  read_fields(bytes, file, [&](const io::ProtoField& f) {
    if (f.is(1, io::WireType::Bytes)) name = f.bytes;
    if (f.is(2, io::WireType::Varint)) type = io::DataType(f.as_int32());
    if (f.is(3, io::WireType::Bytes)) {
      input.any_rank = false;
      input.spec.shape = decode_shape(f.bytes, file, input.any_rank);
    }
  });
  input.place = output_named(graph, name, file);
  input.spec.dtype = tensor_dtype(type, str_cat(file, ": '", name, "'"));
  return input;
}

DISTRIBUTE_INLINE std::shared_ptr<SignatureParts> decode_signature(
    std::string_view bytes, const std::shared_ptr<GraphRunner>& runner, const std::string& file,
    const std::string& name) {
  auto parts = std::make_shared<SignatureParts>();
  parts->name = str_cat(file, ": signature '", name, "'");
  parts->runner = runner;
  Encoded inputs, outputs;
  read_fields(bytes, file, [&](const io::ProtoField& f) {
    if (f.is(1, io::WireType::Bytes)) take_entry(inputs, f, file);
    if (f.is(2, io::WireType::Bytes)) take_entry(outputs, f, file);
  });
  for (const auto& [key, info] : inputs)
    parts->inputs[key] = decode_tensor_info(info, runner->graph(), file);
  for (const auto& [key, info] : outputs)
    parts->outputs[key] = decode_tensor_info(info, runner->graph(), file).place;
  return parts;
}

/// Throws  UnimplementedError that names all operations which are not there.
DISTRIBUTE_INLINE void check_operations(const GraphRunner& runner, const std::vector<int>& targets,
                                        const std::string& file) {
  const std::set<std::string> missing = runner.missing_operations(targets);
  if (!missing.empty())
    throw UnimplementedError(str_cat(file, ": the graph has operations which are not run here: ",
                                     listed(missing), " (docs/loading.md lists those that are)"));
}

DISTRIBUTE_INLINE std::vector<int> nodes_of(const std::map<std::string, NodeOutput>& outputs) {
  std::vector<int> nodes;
  for (const auto& [key, output] : outputs) nodes.push_back(output.node);
  return nodes;
}

/// Restores the variables.
DISTRIBUTE_INLINE void restore_variables(const GraphRunner& runner, const MetaGraph& meta,
                                         const std::string& path, const std::string& file) {
  if (meta.restore_operation.empty()) return;
  const std::string prefix = io::join_path(path, "variables/variables");
  io::FileSystem& files = *value_or_throw(io::file_system_for(prefix));
  if (!value_or_throw(files.exists(prefix + ".index"))) return;  // there are none
  GraphValue name;
  name.texts = {prefix};
  const NodeOutput filename = output_named(runner.graph(), meta.filename_tensor, file),
                   restore = output_named(runner.graph(), meta.restore_operation, file);
  check_operations(runner, {restore.node}, file);
  runner.run({}, {restore.node}, {{filename.node, name}});
}

DISTRIBUTE_INLINE bool fits(const data::TensorSpec& spec, const Tensor& value) {
  const Shape& shape = value.shape();
  if (shape.rank() != int(spec.shape.size())) return false;
  for (int i = 0; i < shape.rank(); ++i)
    if (spec.shape[size_t(i)] >= 0 && spec.shape[size_t(i)] != shape[i]) return false;
  return true;
}

DISTRIBUTE_INLINE std::map<int, GraphValue> feed(const SignatureParts& parts,
                                                 const saved_model::NamedTensors& inputs) {
  std::set<std::string> keys;
  for (const auto& [key, input] : parts.inputs) keys.insert(key);
  for (const auto& [key, value] : inputs)
    if (!keys.contains(key))
      throw InvalidArgumentError(
          str_cat(parts.name, " has no input '", key, "'; its inputs are: ", listed(keys)));
  std::map<int, GraphValue> fed;
  for (const auto& [key, input] : parts.inputs) {
    const auto found = inputs.find(key);
    if (found == inputs.end() || !found->second)
      throw InvalidArgumentError(str_cat(parts.name, " needs input '", key, "'"));
    const Tensor& value = found->second;
    if (value.dtype() != input.spec.dtype || (!input.any_rank && !fits(input.spec, value)))
      throw InvalidArgumentError(str_cat(parts.name, ": input '", key, "' is ",
                                         data::to_string({input.spec}), ", given was ",
                                         to_string(value.shape()), " ", name_of(value.dtype())));
    fed[input.place.node] = value;
  }
  return fed;
}

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

DISTRIBUTE_INLINE NamedTensors LoadedFunction::operator()(const NamedTensors& inputs) const {
  std::vector<saved_model_internal::NodeOutput> wanted;
  for (const auto& [key, output] : parts_->outputs) wanted.push_back(output);
  const auto values = parts_->runner->run(wanted, {}, saved_model_internal::feed(*parts_, inputs));
  NamedTensors outputs;
  size_t next = 0;
  for (const auto& [key, output] : parts_->outputs) outputs[key] = values[next++].tensor;
  return outputs;
}

DISTRIBUTE_INLINE Tensor LoadedFunction::operator()(const Tensor& x) const {
  if (parts_->inputs.size() != 1 || parts_->outputs.size() != 1)
    throw InvalidArgumentError(str_cat(parts_->name, " has ", parts_->inputs.size(), " inputs and ",
                                       parts_->outputs.size(),
                                       " outputs; give the inputs by their names"));
  return (*this)(NamedTensors{{parts_->inputs.begin()->first, x}}).begin()->second;
}

DISTRIBUTE_INLINE std::map<std::string, data::TensorSpec> LoadedFunction::inputs() const {
  std::map<std::string, data::TensorSpec> specs;
  for (const auto& [key, input] : parts_->inputs) specs[key] = input.spec;
  return specs;
}

DISTRIBUTE_INLINE std::vector<std::string> LoadedFunction::outputs() const {
  std::vector<std::string> keys;
  for (const auto& [key, output] : parts_->outputs) keys.push_back(key);
  return keys;
}

DISTRIBUTE_INLINE const LoadedFunction& LoadedModel::signature(const std::string& name) const {
  const auto found = signatures.find(name);
  if (found != signatures.end()) return found->second;
  std::set<std::string> names;
  for (const auto& [known, function] : signatures) names.insert(known);
  throw NotFoundError(str_cat("there is no signature '", name,
                              "'; there are: ", saved_model_internal::listed(names)));
}

DISTRIBUTE_INLINE LoadedModel load(const std::string& path, const std::set<std::string>& tags) {
  using namespace saved_model_internal;
  const std::string file = io::join_path(path, "saved_model.pb");
  const std::string bytes = value_or_throw(io::read_file(file));
  const MetaGraph meta = find_meta_graph(bytes, file, tags);
  const auto runner = std::make_shared<GraphRunner>(decode_graph_def(meta.graph, file), file);
  LoadedModel model;
  std::vector<int> targets;
  for (const auto& [name, signature] : meta.signatures) {
    if (name.starts_with("__")) continue;  // what TensorFlow runs by itself
    const auto parts = decode_signature(signature, runner, file, name);
    const std::vector<int> nodes = nodes_of(parts->outputs);
    targets.insert(targets.end(), nodes.begin(), nodes.end());
    model.signatures.emplace(name, LoadedFunction(parts));
  }
  check_operations(*runner, targets, file);
  restore_variables(*runner, meta, path, file);
  return model;
}

DISTRIBUTE_INLINE LoadedFunction load_frozen_graph(const std::string& path,
                                                   const FrozenGraphOptions& options) {
  using namespace saved_model_internal;
  const std::string bytes = value_or_throw(io::read_file(path));
  const auto runner = std::make_shared<GraphRunner>(decode_graph_def(bytes, path), path);
  const RunGraph& graph = runner->graph();
  auto parts = std::make_shared<SignatureParts>();
  parts->name = path;
  parts->runner = runner;
  std::vector<std::string> inputs = options.inputs, outputs = options.outputs;
  std::set<int> read;
  for (const RunNode& node : graph.nodes)
    for (const NodeOutput& input : node.inputs) read.insert(input.node);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const RunNode& node = graph.nodes[i];
    if (options.inputs.empty() && node.op == "Placeholder") inputs.push_back(node.name);
    const bool last = !read.contains(int(i)) && node.op != "NoOp" && node.op != "Placeholder";
    if (options.outputs.empty() && last) outputs.push_back(node.name);
  }
  for (const std::string& key : outputs) parts->outputs[key] = output_named(graph, key, path);
  check_operations(*runner, nodes_of(parts->outputs), path);
  for (const std::string& key : inputs) {
    SignatureInput& input = parts->inputs[key];
    input.place = output_named(graph, key, path);
    const auto& attributes = graph.nodes[size_t(input.place.node)].attributes;
    const auto shape = attributes.find("shape"), dtype = attributes.find("dtype");
    input.any_rank = shape == attributes.end() || shape->second.unknown_rank;
    if (!input.any_rank) input.spec.shape = shape->second.sizes;
    if (dtype != attributes.end())
      input.spec.dtype = tensor_dtype(dtype->second.type, str_cat(path, ": '", key, "'"));
  }
  return LoadedFunction(parts);
}

}  // namespace distribute::saved_model
