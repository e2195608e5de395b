#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/saved_model/detail/onnx_graph.hpp>
#include <distribute/saved_model/saved_model.hpp>
#include <distribute/strategy/scope.hpp>

#include <string_view>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE std::string_view bytes_of(const Tensor& tensor) {
  return {tensor.array().bytes(), size_t(tensor.num_elements() * size_of(tensor.dtype()))};
}

/// Begins of external tensors; programs map the file into memory.
inline constexpr int64_t kExternalAlignment = 4096;

DISTRIBUTE_INLINE int64_t aligned(int64_t offset) {
  return (offset + kExternalAlignment - 1) / kExternalAlignment * kExternalAlignment;
}

/// TensorProto; the elements are in the message, or where `location` says.
DISTRIBUTE_INLINE std::string onnx_tensor(const std::string& name, const Tensor& value,
                                          const std::string& location, int64_t offset) {
  io::ProtoWriter proto;
  for (const int64_t size : value.shape()) proto.integer(1, size, io::Presence::Always);
  proto.integer(2, onnx_type(value.dtype())).bytes(8, name);
  if (location.empty()) return proto.message(9, bytes_of(value)).take();
  proto.message(13, io::map_entry_proto("location", location))
      .message(13, io::map_entry_proto("offset", std::to_string(offset)))
      .message(13, io::map_entry_proto("length", std::to_string(bytes_of(value).size())));
  return proto.integer(14, 1).take();  // EXTERNAL
}

/// ModelProto. With a location `append` gets the constants' bytes, in the order of the file.
DISTRIBUTE_INLINE std::string encode_onnx(const OnnxGraph& graph, const std::string& location,
                                          const std::function<void(std::string_view)>& append) {
  io::ProtoWriter proto;
  for (const std::string& node : graph.nodes) proto.message(1, node);
  proto.bytes(2, "inference");
  int64_t offset = 0;
  for (const auto& [name, value] : graph.initializers) {
    if (!location.empty()) {
      const int64_t begin = aligned(offset);
      append(std::string(size_t(begin - offset), '\0'));
      append(bytes_of(value));
      offset = begin;
    }
    proto.message(5, onnx_tensor(name, value, location, offset));
    offset += int64_t(bytes_of(value).size());
  }
  for (const std::string& input : graph.inputs) proto.message(11, input);
  for (const std::string& output : graph.outputs) proto.message(12, output);
  return io::ProtoWriter()
      .integer(1, 8)  // version of the format
      .bytes(2, "distribute")
      .message(7, proto)
      .message(8, io::ProtoWriter().integer(2, 17))  // of the operations
      .take();
}

DISTRIBUTE_INLINE void write_onnx(const OnnxGraph& graph, const std::string& path, bool external) {
  if (!external) {
    throw_if_error(io::write_file_atomically(path, encode_onnx(graph, "", {})));
    return;
  }
  const std::string beside = path + ".data";
  io::AtomicFile data = value_or_throw(io::AtomicFile::create(beside));
  io::AtomicFile model = value_or_throw(io::AtomicFile::create(path));
  const std::string message =
      encode_onnx(graph, io::file_name_of(beside),
                  [&](std::string_view bytes) { throw_if_error(data.append(bytes)); });
  throw_if_error(model.append(message));
  throw_if_error(data.prepare());
  throw_if_error(model.prepare());
  throw_if_error(data.commit());
  throw_if_error(model.commit());
}

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

DISTRIBUTE_INLINE void export_onnx(const InferenceFunction& function, const std::string& file,
                                   const OnnxOptions& options) {
  if (!options.input)
    throw InvalidArgumentError(
        "export_onnx: a function has no known input; give the option `input`");
  OnnxOptions named = options;
  named.inputs = {{options.input_name, *options.input}};
  export_onnx(
      [&](const NamedTensors& inputs) {
        return NamedTensors{{options.output_name, function(inputs.begin()->second)}};
      },
      file, named);
}

DISTRIBUTE_INLINE void export_onnx(const NamedFunction& function, const std::string& file,
                                   const OnnxOptions& options) {
  using namespace saved_model_internal;
  if (file.empty()) throw InvalidArgumentError("export_onnx: the name of the file is empty");
  const InferenceGraph inference =
      trace_inference(function, TraceOptions{.inputs = options.inputs});
  const bool external = inference.constant_bytes() > options.external_data_above;
  const OnnxGraph graph = onnx_graph(inference);
  train::WorkerSave saving(get_strategy(), file, {.second_file = external ? ".data" : ""});
  saving.run([&] { write_onnx(graph, saving.path(), external); });
  saving.commit();
}

DISTRIBUTE_INLINE void export_onnx(nn::Module& module, const std::string& file,
                                   const OnnxOptions& options) {
  OnnxOptions known = options;
  known.input = inference_input(module, options.input);
  export_onnx([&](const Tensor& x) { return module(x); }, file, known);
}

}  // namespace distribute::saved_model
