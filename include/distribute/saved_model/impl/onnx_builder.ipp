#pragma once
#include <distribute/base/error.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saved_model/detail/onnx_builder.hpp>

#include <array>

namespace distribute::saved_model_internal {

DISTRIBUTE_INLINE int64_t onnx_type(DType dtype) {
  switch (dtype) {
    case DType::Float32: return 1;
    case DType::UInt8: return 2;
    case DType::Int32: return 6;
    case DType::Int64: return 7;
    case DType::Bool: return 9;
    case DType::Float16: return 10;
    case DType::BFloat16: return 16;
  }
  return 0;
}

DISTRIBUTE_INLINE std::string value_info(const std::string& name,
                                         const saved_model::InferenceNode& node) {
  io::ProtoWriter shape;
  for (const int64_t size : node.shape)
    shape.message(1, size < 0 ? io::ProtoWriter().bytes(2, "batch")
                              : io::ProtoWriter().integer(1, size, io::Presence::Always));
  const auto tensor = io::ProtoWriter().integer(1, onnx_type(node.dtype)).message(2, shape);
  const auto type = io::ProtoWriter().message(1, tensor);
  return io::ProtoWriter().bytes(1, name).message(2, type).take();
}

DISTRIBUTE_INLINE OnnxAttributes& OnnxAttributes::add(io::ProtoWriter& proto, int64_t type) {
  protos.push_back(proto.integer(20, type).take());
  return *this;
}
DISTRIBUTE_INLINE OnnxAttributes& OnnxAttributes::integer(const std::string& name, int64_t value) {
  return add(io::ProtoWriter().bytes(1, name).integer(3, value, io::Presence::Always), 2);  // INT
}
DISTRIBUTE_INLINE OnnxAttributes& OnnxAttributes::real(const std::string& name, float value) {
  return add(io::ProtoWriter().bytes(1, name).float32(2, value, io::Presence::Always), 1);  // FLOAT
}
DISTRIBUTE_INLINE OnnxAttributes& OnnxAttributes::list(const std::string& name,
                                                       const Sizes& values) {
  return add(io::ProtoWriter().bytes(1, name).packed_integers(8, values), 7);  // INTS
}

DISTRIBUTE_INLINE const Sizes& OnnxBuilder::list(const char* key) const {
  return std::get<Sizes>(now_->attributes.at(key));
}
DISTRIBUTE_INLINE int64_t OnnxBuilder::integer(const char* key) const {
  return std::get<int64_t>(now_->attributes.at(key));
}
DISTRIBUTE_INLINE float OnnxBuilder::real(const char* key) const {
  return std::get<float>(now_->attributes.at(key));
}
DISTRIBUTE_INLINE bool OnnxBuilder::flag(const char* key) const {
  const auto found = now_->attributes.find(key);
  return found != now_->attributes.end() && std::get<bool>(found->second);
}

/// A node's name is that of its output.
DISTRIBUTE_INLINE std::string OnnxBuilder::emit(const std::string& op, const Names& inputs,
                                                const std::string& output,
                                                const OnnxAttributes& attributes,
                                                const std::string& second_output) {
  io::ProtoWriter proto;
  for (const std::string& input : inputs) proto.message(1, input);
  proto.bytes(2, output).bytes(2, second_output).bytes(3, output).bytes(4, op);
  for (const std::string& attribute : attributes.protos) proto.message(5, attribute);
  result_.nodes.push_back(proto.take());
  return output;
}

DISTRIBUTE_INLINE std::string OnnxBuilder::initializer(const std::string& name,
                                                       const Tensor& value) {
  if (made_.insert(name).second) result_.initializers.emplace_back(name, value.row_major());
  return name;
}

DISTRIBUTE_INLINE std::string OnnxBuilder::integers(const std::string& name, const Sizes& values) {
  return initializer(name, Tensor(Shape{int64_t(values.size())}, values));
}

DISTRIBUTE_INLINE std::string OnnxBuilder::plain(size_t i) {
  OnnxValue& value = values_[size_t(now_->inputs[i])];
  if (!value.plain.empty()) return value.plain;
  const Node& of = input(i);
  if (of.op == "Const") return value.plain = initializer(of.name, of.value);
  return value.plain = emit("Transpose", {value.channels_first}, of.name + "/nhwc",
                            OnnxAttributes().list("perm", {0, 2, 3, 1}));
}

DISTRIBUTE_INLINE std::string OnnxBuilder::channels_first(size_t i) {
  OnnxValue& value = values_[size_t(now_->inputs[i])];
  if (!value.channels_first.empty()) return value.channels_first;
  const Node& of = input(i);
  const std::string name = of.name + "/nchw";
  if (of.op == "Const")
    return value.channels_first =
               initializer(name, transpose(of.value, std::array<int, 4>{0, 3, 1, 2}));
  return value.channels_first =
             emit("Transpose", {value.plain}, name, OnnxAttributes().list("perm", {0, 3, 1, 2}));
}

DISTRIBUTE_INLINE bool OnnxBuilder::is_channels_first(size_t i) const {
  return !values_[size_t(now_->inputs[i])].channels_first.empty() && input(i).op != "Const";
}

DISTRIBUTE_INLINE OnnxGraph OnnxBuilder::finish() {
  const auto info = [&](int place) {
    const Node& node = graph_.nodes[size_t(place)];
    return value_info(node.name, node);
  };
  for (const auto& [key, place] : graph_.inputs) result_.inputs.push_back(info(place));
  for (const auto& [key, place] : graph_.outputs) result_.outputs.push_back(info(place));
  return std::move(result_);
}

DISTRIBUTE_INLINE std::string OnnxBuilder::operand(size_t i, bool first, bool& fits) {
  const Node& of = input(i);
  if (!first || of.shape.empty() || of.shape == Sizes{1}) return plain(i);
  if (of.shape.size() == 4) return channels_first(i);
  if (of.shape.size() == 1 && of.op == "Const")
    return initializer(of.name + "/channels", of.value.view({of.shape[0], 1, 1}));
  fits = false;
  return "";
}

}  // namespace distribute::saved_model_internal
