#pragma once
#include <distribute/checkpoint/detail/object_graph.hpp>

#include <distribute/base/error.hpp>
#include <distribute/io/protobuf.hpp>

namespace distribute::checkpoint_internal {

DISTRIBUTE_INLINE io::ProtoWriter encode_object(const train::TrackableObject& node) {
  io::ProtoWriter proto;
  for (const train::ObjectReference& child : node.children) {
    io::ProtoWriter edge;
    edge.integer(1, child.node_id);
    edge.bytes(2, child.local_name);
    proto.message(1, edge);
  }
  for (const train::SerializedTensor& attribute : node.attributes) {
    io::ProtoWriter tensor;
    tensor.bytes(1, attribute.name);
    tensor.bytes(2, attribute.full_name);
    tensor.bytes(3, attribute.checkpoint_key);
    tensor.integer(4, attribute.optional_restore);
    proto.message(2, tensor);
  }
  for (const train::SlotVariableReference& slot : node.slot_variables) {
    io::ProtoWriter reference;
    reference.integer(1, slot.original_variable_node_id);
    reference.bytes(2, slot.slot_name);
    reference.integer(3, slot.slot_variable_node_id);
    proto.message(3, reference);
  }
  if (node.registered_saver) {
    io::ProtoWriter saver;
    saver.bytes(1, node.registered_saver->name);
    saver.bytes(2, node.registered_saver->object_name);
    proto.message(4, saver);
  }
  if (node.has_checkpoint_values) {
    io::ProtoWriter value;
    value.integer(1, *node.has_checkpoint_values);
    proto.message(5, value);
  }
  return proto;
}

/// The up to four fields every small message of the graph has: numbers and texts by field number.
struct SmallMessage {
  int64_t numbers[5] = {};
  std::string_view texts[5];
};

DISTRIBUTE_INLINE bool decode_small(std::string_view bytes, SmallMessage& message) {
  io::ProtoReader proto(bytes);
  for (io::ProtoField field; proto.next(field);) {
    if (field.number > 4) continue;
    if (field.type == io::WireType::Varint) message.numbers[field.number] = field.as_int64();
    if (field.type == io::WireType::Bytes) message.texts[field.number] = field.bytes;
  }
  return proto.ok();
}

DISTRIBUTE_INLINE bool decode_object(std::string_view bytes, train::TrackableObject& node) {
  io::ProtoReader proto(bytes);
  for (io::ProtoField field; proto.next(field);) {
    SmallMessage part;
    if (field.type != io::WireType::Bytes || field.number > 5) continue;
    if (!decode_small(field.bytes, part)) return false;
    const auto& n = part.numbers;
    const auto text = [&](int i) { return std::string(part.texts[i]); };
    if (field.number == 1) node.children.push_back({int32_t(n[1]), text(2)});
    if (field.number == 2) node.attributes.push_back({text(1), text(2), text(3), n[4] != 0});
    if (field.number == 3) node.slot_variables.push_back({int32_t(n[1]), text(2), int32_t(n[3])});
    if (field.number == 4) node.registered_saver = {text(1), text(2)};
    if (field.number == 5) node.has_checkpoint_values = n[1] != 0;
  }
  return proto.ok();
}

DISTRIBUTE_INLINE bool refers_to_nodes(const train::TrackableObject& node, size_t num_nodes) {
  const auto inside = [&](int32_t id) { return id >= 0 && size_t(id) < num_nodes; };
  for (const train::ObjectReference& child : node.children) {
    if (!inside(child.node_id)) return false;
  }
  for (const train::SlotVariableReference& slot : node.slot_variables) {
    if (!inside(slot.original_variable_node_id) || !inside(slot.slot_variable_node_id)) {
      return false;
    }
  }
  return true;
}

}  // namespace distribute::checkpoint_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::string encode_object_graph(const TrackableObjectGraph& graph) {
  io::ProtoWriter proto;
  for (const TrackableObject& node : graph.nodes) {
    proto.message(1, checkpoint_internal::encode_object(node));
  }
  return proto.take();
}

DISTRIBUTE_INLINE TrackableObjectGraph decode_object_graph(std::string_view bytes,
                                                           const std::string& where) {
  TrackableObjectGraph graph;
  io::ProtoReader proto(bytes);
  bool good = true;
  for (io::ProtoField field; good && proto.next(field);) {
    if (!field.is(1, io::WireType::Bytes)) continue;
    good = checkpoint_internal::decode_object(field.bytes, graph.nodes.emplace_back());
  }
  if (!good || !proto.ok()) throw DataLossError(where + ": the object graph is malformed");
  for (const TrackableObject& node : graph.nodes) {
    if (checkpoint_internal::refers_to_nodes(node, graph.nodes.size())) continue;
    throw DataLossError(where + ": the object graph names an object that it does not hold");
  }
  return graph;
}

DISTRIBUTE_INLINE std::string escape_local_name(std::string_view name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '.') {
      escaped += "..";
    } else if (c == '/') {
      escaped += ".S";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

DISTRIBUTE_INLINE std::string object_key(std::string_view path, std::string_view attribute) {
  return str_cat(path, path.empty() ? "" : "/", ".ATTRIBUTES/", attribute);
}

DISTRIBUTE_INLINE std::string slot_path(std::string_view variable_path,
                                        std::string_view optimizer_path,
                                        std::string_view slot_name) {
  return str_cat(variable_path, "/.OPTIMIZER_SLOT/", optimizer_path,
                 optimizer_path.empty() ? "" : "/", escape_local_name(slot_name));
}

}  // namespace distribute::train
