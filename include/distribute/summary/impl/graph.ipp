#pragma once
#include <distribute/base/error.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/summary/file_writer.hpp>

#include <set>

namespace distribute::summary_internal {

/// Encodes AttrValue{list{shape}} of the one output.
DISTRIBUTE_INLINE std::string encode_output_shapes(const std::vector<int64_t>& sizes) {
  const auto list = io::ProtoWriter().message(7, io::shape_proto(sizes));
  return io::ProtoWriter().message(1, list).take();
}

DISTRIBUTE_INLINE std::string encode_node(const summary::GraphNode& node) {
  io::ProtoWriter proto;
  proto.bytes(1, node.name).bytes(2, node.op);
  for (const std::string& input : node.inputs) proto.bytes(3, input);
  if (node.has_output_shape)
    proto.message(5,
                  io::map_entry_proto("_output_shapes", encode_output_shapes(node.output_shape)));
  return proto.take();
}

/// Reads AttrValue.list.shape.dim.size: nested messages, of each the first.
DISTRIBUTE_INLINE bool read_output_shape(std::string_view attribute, summary::GraphNode& node) {
  return io::read_fields(attribute, [&](const io::ProtoField& list) {
    if (!list.is(1, io::WireType::Bytes)) return true;
    return io::read_fields(list.bytes, [&](const io::ProtoField& shape) {
      if (!shape.is(7, io::WireType::Bytes)) return true;
      node.has_output_shape = true;
      bool unknown_rank = false;
      return io::read_shape_proto(shape.bytes, node.output_shape, unknown_rank);
    });
  });
}

DISTRIBUTE_INLINE bool read_attribute(std::string_view entry, summary::GraphNode& node) {
  std::string_view key, value;
  return io::read_map_entry(entry, key, value) &&
         (key != "_output_shapes" || read_output_shape(value, node));
}

DISTRIBUTE_INLINE bool read_node(std::string_view bytes, summary::GraphNode& node) {
  return io::read_fields(bytes, [&](const io::ProtoField& field) {
    if (field.is(1, io::WireType::Bytes)) node.name = field.bytes;
    if (field.is(2, io::WireType::Bytes)) node.op = field.bytes;
    if (field.is(3, io::WireType::Bytes)) node.inputs.emplace_back(field.bytes);
    return !field.is(5, io::WireType::Bytes) || read_attribute(field.bytes, node);
  });
}

}  // namespace distribute::summary_internal

namespace distribute::summary {

DISTRIBUTE_INLINE std::string encode_graph(std::span<const GraphNode> nodes) {
  std::set<std::string> names;
  for (const GraphNode& node : nodes)
    if (!names.insert(node.name).second)
      throw InvalidArgumentError("graph: two nodes are called '" + node.name + "'");
  io::ProtoWriter graph;
  for (const GraphNode& node : nodes) {
    for (const std::string& input : node.inputs)
      if (!names.contains(input))
        throw InvalidArgumentError("graph: node '" + node.name + "' has the input '" + input +
                                   "', which is no node");
    graph.message(1, summary_internal::encode_node(node));
  }
  // The version of early graphs, since nothing of later versions is used.
  return graph.message(4, io::ProtoWriter().integer(1, 22)).take();
}

DISTRIBUTE_INLINE std::vector<GraphNode> decode_graph(std::string_view graph_def,
                                                      const std::string& where) {
  std::vector<GraphNode> nodes;
  const bool good = io::read_fields(graph_def, [&](const io::ProtoField& field) {
    return !field.is(1, io::WireType::Bytes) ||
           summary_internal::read_node(field.bytes, nodes.emplace_back());
  });
  if (!good) throw DataLossError(where + ": the graph is malformed");
  return nodes;
}

DISTRIBUTE_INLINE bool graph(std::span<const GraphNode> nodes, int64_t step) {
  const FileWriter* writer = summary_internal::current_writer();
  if (!writer) return false;
  writer->write_graph(step, encode_graph(nodes));
  return true;
}

}  // namespace distribute::summary
