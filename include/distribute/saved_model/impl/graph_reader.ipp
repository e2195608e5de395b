#pragma once
#include <distribute/base/error.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saved_model/detail/graph_reader.hpp>

#include <bit>
#include <charconv>
#include <cstring>
#include <functional>
#include <set>

namespace distribute::saved_model_internal {

using io::ProtoField;
using io::WireType;

DISTRIBUTE_INLINE void read_fields(std::string_view message, const std::string& name,
                                   const std::function<void(const ProtoField&)>& take) {
  io::ProtoReader reader(message);
  for (ProtoField field; reader.next(field);) take(field);
  if (!reader.ok()) throw DataLossError(str_cat(name, ": a message in it is damaged or cut off"));
}

/// The two fields of an entry of a map.
DISTRIBUTE_INLINE std::pair<std::string, std::string_view> map_entry_of(std::string_view message,
                                                                        const std::string& name) {
  std::pair<std::string, std::string_view> entry;
  read_fields(message, name, [&](const ProtoField& f) {
    if (f.is(1, WireType::Bytes)) entry.first = f.bytes;
    if (f.is(2, WireType::Bytes)) entry.second = f.bytes;
  });
  return entry;
}

DISTRIBUTE_INLINE DType tensor_dtype(io::DataType type, const std::string& where) {
  switch (type) {
    case io::DataType::Float: return DType::Float32;
    case io::DataType::BFloat16: return DType::BFloat16;
    case io::DataType::Half: return DType::Float16;
    case io::DataType::Int32: return DType::Int32;
    case io::DataType::Int64: return DType::Int64;
    case io::DataType::UInt8: return DType::UInt8;
    case io::DataType::Bool: return DType::Bool;
    default:
      throw UnimplementedError(
          str_cat(where, " is ", io::name_of(type), ", which tensors here cannot be"));
  }
}

DISTRIBUTE_INLINE std::vector<int64_t> decode_shape(std::string_view message,
                                                    const std::string& name, bool& unknown_rank) {
  std::vector<int64_t> sizes;
  read_fields(message, name, [&](const ProtoField& f) {
    if (f.is(3, WireType::Varint)) unknown_rank = f.as_bool();
    if (!f.is(2, WireType::Bytes)) return;
    int64_t size = 0;
    read_fields(f.bytes, name, [&](const ProtoField& d) {
      if (d.is(1, WireType::Varint)) size = d.as_int64();
    });
    sizes.push_back(size);
  });
  return sizes;
}

/// The fields of a TensorProto.
struct TensorFields {
  io::DataType type = io::DataType::Invalid;
  std::vector<int64_t> sizes;
  std::string_view content;
  std::vector<float> floats;
  std::vector<int64_t> integers;  // also bits of float16 and bfloat16
  std::vector<std::string> texts;
};

DISTRIBUTE_INLINE TensorFields decode_fields(std::string_view proto, const std::string& name) {
  TensorFields t;
  bool unknown = false, ok = true;
  read_fields(proto, name, [&](const ProtoField& f) {
    if (f.is(1, WireType::Varint)) t.type = io::DataType(f.as_int32());
    if (f.is(2, WireType::Bytes)) t.sizes = decode_shape(f.bytes, name, unknown);
    if (f.is(4, WireType::Bytes)) t.content = f.bytes;
    if (f.number == 5) ok = ok && append_floats(f, t.floats);
    if (f.number == 7 || f.number == 10 || f.number == 11 || f.number == 13)
      ok = ok && append_integers(f, t.integers);
    if (f.is(8, WireType::Bytes)) t.texts.emplace_back(f.bytes);
  });
  if (!ok) throw DataLossError(str_cat(name, ": a tensor in it is damaged"));
  return t;
}

/// Elements; where there are fewer than the shape has, the last one counts for the rest.
template <typename T>
DISTRIBUTE_INLINE void fill_elements(T* out, int64_t count, const TensorFields& t) {
  for (int64_t i = 0; i < count; ++i) {
    const auto at = [&](const auto& values) {
      return values.empty() ? 0 : values[std::min(size_t(i), values.size() - 1)];
    };
    if constexpr (std::is_same_v<T, float>)
      out[i] = float(at(t.floats));
    else if constexpr (HalfFloat<T>)
      out[i].bits = uint16_t(at(t.integers));
    else
      out[i] = T(at(t.integers));
  }
}

DISTRIBUTE_INLINE GraphValue decode_tensor(std::string_view proto, const std::string& name) {
  const TensorFields t = decode_fields(proto, name);
  if (t.type == io::DataType::String) {
    GraphValue value;
    value.texts = t.texts;
    return value;
  }
  const DType dtype = tensor_dtype(t.type, name);
  constexpr int64_t kMostBytes = int64_t{1} << 31;  // of a message
  int64_t bytes = size_of(dtype);
  for (const int64_t size : t.sizes)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes) || bytes > kMostBytes)
      throw DataLossError(str_cat(name, ": a constant of an impossible shape"));
  if (t.sizes.size() > size_t(Shape::kMaxRank) ||
      (!t.content.empty() && int64_t(t.content.size()) != bytes))
    throw DataLossError(
        str_cat(name, ": a constant has ", t.content.size(), " bytes, which its shape does not"));
  Tensor value = Tensor::empty(Shape(t.sizes), dtype, Device{});
  const int64_t count = value.num_elements();
  if (!t.content.empty() && dtype != DType::Bool) {
    std::memcpy(value.array().bytes(), t.content.data(), t.content.size());
  } else {
    dispatch(dtype, [&](auto type) {
      using T = decltype(type);
      T* out = value.mutable_data<T>();
      if (t.content.empty()) return fill_elements(out, count, t);
      for (int64_t i = 0; i < count; ++i) out[i] = T(t.content[size_t(i)] != 0);
    });
  }
  return value;
}

DISTRIBUTE_INLINE NodeAttribute decode_attribute(std::string_view message,
                                                 const std::string& name) {
  NodeAttribute a;
  bool ok = true;
  read_fields(message, name, [&](const ProtoField& f) {
    if (f.is(2, WireType::Bytes)) a.text = f.bytes;
    if (f.is(3, WireType::Varint)) a.integer = f.as_int64();
    if (f.is(4, WireType::Fixed32)) a.real = f.as_float();
    if (f.is(5, WireType::Varint)) a.truth = f.as_bool();
    if (f.is(6, WireType::Varint)) a.type = io::DataType(f.as_int32());
    if (f.is(7, WireType::Bytes)) a.sizes = decode_shape(f.bytes, name, a.unknown_rank);
    if (f.is(8, WireType::Bytes)) a.tensor = f.bytes;
    if (f.is(10, WireType::Bytes)) a.text = map_entry_of(f.bytes, name).first;  // NameAttrList
    if (f.is(1, WireType::Bytes))
      read_fields(f.bytes, name, [&](const ProtoField& item) {
        if (item.number == 3) ok = ok && append_integers(item, a.integers);
      });
  });
  if (!ok) throw DataLossError(str_cat(name, ": an attribute in it is damaged"));
  return a;
}

/// A node whose inputs are still texts.
struct NodeText {
  RunNode node;
  std::vector<std::string> inputs;
};

DISTRIBUTE_INLINE NodeText decode_node(std::string_view message, const std::string& name) {
  NodeText text;
  read_fields(message, name, [&](const ProtoField& f) {
    if (f.is(1, WireType::Bytes)) text.node.name = f.bytes;
    if (f.is(2, WireType::Bytes)) text.node.op = f.bytes;
    if (f.is(3, WireType::Bytes)) text.inputs.emplace_back(f.bytes);
    if (f.is(5, WireType::Bytes)) {
      const auto [key, value] = map_entry_of(f.bytes, name);
      text.node.attributes[key] = decode_attribute(value, name);
    }
  });
  if (text.node.op == "Const")
    if (const auto value = text.node.attributes.find("value");
        value != text.node.attributes.end()) {
      try {
        text.node.constant = decode_tensor(value->second.tensor, name);
      } catch (const UnimplementedError&) {  // only its readers need it
        text.node.op = str_cat("Const of ", io::name_of(text.node.attributes["dtype"].type));
      }
    }
  for (auto& [key, attribute] : text.node.attributes) attribute.tensor = {};  // the bytes go
  return text;
}

DISTRIBUTE_INLINE int whole_number(std::string_view text) {
  int value = -1;
  const auto end = text.data() + text.size();
  return std::from_chars(text.data(), end, value).ptr == end ? value : -1;
}

/// Which output of an operation a name means; of others outputs are numbered.
DISTRIBUTE_INLINE int first_output_called(const std::string& op, std::string_view output) {
  if (op == "TopKV2" && output == "indices") return 1;
  if (op == "FusedBatchNormV3" && output != "y") return output == "batch_mean" ? 1 : 2;
  return 0;
}

/// "node", "node:1", and in functions "node:output:0".
DISTRIBUTE_INLINE NodeOutput output_named(const RunGraph& graph, const std::string& text,
                                          const std::string& name) {
  const size_t colon = text.find(':'), last = text.rfind(':');
  const auto place = graph.places.find(text.substr(0, colon));
  if (place == graph.places.end())
    throw NotFoundError(str_cat(name, ": there is no node '", text.substr(0, colon), "'"));
  if (colon == std::string::npos) return {place->second, 0};
  const int number = whole_number(std::string_view(text).substr(last + 1));
  if (number < 0) throw NotFoundError(str_cat(name, ": '", text, "' names no output of a node"));
  if (colon == last) return {place->second, number};
  const std::string_view called = std::string_view(text).substr(colon + 1, last - colon - 1);
  const std::string& op = graph.nodes[size_t(place->second)].op;
  return {place->second, number + first_output_called(op, called)};
}

/// Adds nodes and finds their inputs among all of them.
DISTRIBUTE_INLINE void add_nodes(RunGraph& graph, std::vector<NodeText> texts,
                                 const std::string& name) {
  const size_t first = graph.nodes.size();
  for (NodeText& text : texts) {
    if (!graph.places.emplace(text.node.name, int(graph.nodes.size())).second)
      throw DataLossError(str_cat(name, ": two nodes are called '", text.node.name, "'"));
    graph.nodes.push_back(std::move(text.node));
  }
  try {
    for (size_t i = 0; i < texts.size(); ++i)
      for (const std::string& input : texts[i].inputs) {
        RunNode& node = graph.nodes[first + i];
        if (input.starts_with('^'))
          node.controls.push_back(output_named(graph, input.substr(1), name).node);
        else
          node.inputs.push_back(output_named(graph, input, name));
      }
  } catch (const NotFoundError& error) {
    throw DataLossError(error.what());
  }
}

DISTRIBUTE_INLINE std::string argument_name(std::string_view message, const std::string& name) {
  std::string text;
  read_fields(message, name, [&](const ProtoField& f) {
    if (f.is(1, WireType::Bytes)) text = f.bytes;
  });
  return text;
}

/// FunctionDef; `called` becomes its name.
DISTRIBUTE_INLINE RunGraph decode_function(std::string_view message, const std::string& name,
                                           std::string& called) {
  RunGraph body;
  std::vector<std::string> results;
  std::map<std::string, std::string> returned;
  std::vector<std::string> controls;
  std::vector<NodeText> texts;
  read_fields(message, name, [&](const ProtoField& f) {
    if (f.is(1, WireType::Bytes))
      read_fields(f.bytes, name, [&](const ProtoField& s) {
        if (s.is(1, WireType::Bytes)) called = s.bytes;
        if (s.is(2, WireType::Bytes)) {
          RunNode argument{.name = argument_name(s.bytes, name), .op = "_Arg"};
          body.places.emplace(argument.name, body.arguments++);
          body.nodes.push_back(std::move(argument));
        }
        if (s.is(3, WireType::Bytes)) results.push_back(argument_name(s.bytes, name));
      });
    if (f.is(3, WireType::Bytes)) texts.push_back(decode_node(f.bytes, name));
    if (f.is(4, WireType::Bytes)) returned.insert(map_entry_of(f.bytes, name));
    if (f.is(6, WireType::Bytes)) controls.emplace_back(map_entry_of(f.bytes, name).second);
  });
  add_nodes(body, std::move(texts), name);
  for (const std::string& result : results)
    body.results.push_back(output_named(body, returned[result], name));
  for (const std::string& control : controls)
    body.controls.push_back(output_named(body, control, name).node);
  return body;
}

DISTRIBUTE_INLINE RunLibrary decode_graph_def(std::string_view bytes, const std::string& name) {
  RunLibrary library;
  std::vector<NodeText> texts;
  read_fields(bytes, name, [&](const ProtoField& f) {
    if (f.is(1, WireType::Bytes)) texts.push_back(decode_node(f.bytes, name));
    if (!f.is(2, WireType::Bytes)) return;
    read_fields(f.bytes, name, [&](const ProtoField& item) {
      if (!item.is(1, WireType::Bytes)) return;
      std::string called;
      RunGraph body = decode_function(item.bytes, name, called);
      library.functions[called] = std::move(body);
    });
  });
  add_nodes(library.graph, std::move(texts), name);
  return library;
}

}  // namespace distribute::saved_model_internal
