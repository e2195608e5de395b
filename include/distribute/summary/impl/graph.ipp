#pragma once
#include <distribute/base/error.hpp>
#include <distribute/io/protobuf.hpp>
#include <distribute/summary/file_writer.hpp>

#include <set>

namespace distribute::summary_internal {

/// AttrValue{list{shape}} of the one output.
DISTRIBUTE_INLINE std::string encode_output_shapes(const std::vector<int64_t>& sizes) {
  io::ProtoWriter attribute, list, shape;
  for (const int64_t size : sizes) {
    io::ProtoWriter dim;
    dim.integer(1, size);
    shape.message(2, dim);
  }
  list.message(7, shape);
  attribute.message(1, list);
  return attribute.take();
}

DISTRIBUTE_INLINE std::string encode_node(const summary::GraphNode& node) {
  io::ProtoWriter proto;
  proto.bytes(1, node.name);
  proto.bytes(2, node.op);
  for (const std::string& input : node.inputs) proto.bytes(3, input);
  if (!node.has_output_shape) return proto.take();
  io::ProtoWriter entry;
  entry.bytes(1, "_output_shapes");
  entry.message(2, encode_output_shapes(node.output_shape));
  proto.message(5, entry);
  return proto.take();
}

/// AttrValue.list.shape.dim.size: messages within messages, the first of each.
DISTRIBUTE_INLINE bool read_output_shape(std::string_view attribute, summary::GraphNode& node) {
  io::ProtoReader value(attribute);
  for (io::ProtoField list; value.next(list);) {
    if (!list.is(1, io::WireType::Bytes)) continue;
    io::ProtoReader shapes(list.bytes);
    for (io::ProtoField shape; shapes.next(shape);) {
      if (!shape.is(7, io::WireType::Bytes)) continue;
      node.has_output_shape = true;
      io::ProtoReader dims(shape.bytes);
      for (io::ProtoField dim; dims.next(dim);) {
        if (!dim.is(2, io::WireType::Bytes)) continue;
        io::ProtoReader sizes(dim.bytes);
        node.output_shape.push_back(0);
        for (io::ProtoField size; sizes.next(size);)
          if (size.is(1, io::WireType::Varint)) node.output_shape.back() = size.as_int64();
        if (!sizes.ok()) return false;
      }
      if (!dims.ok()) return false;
    }
    if (!shapes.ok()) return false;
  }
  return value.ok();
}

DISTRIBUTE_INLINE bool read_attribute(std::string_view entry, summary::GraphNode& node) {
  std::string_view key, value;
  io::ProtoReader fields(entry);
  for (io::ProtoField field; fields.next(field);) {
    if (field.is(1, io::WireType::Bytes)) key = field.bytes;
    if (field.is(2, io::WireType::Bytes)) value = field.bytes;
  }
  return fields.ok() && (key != "_output_shapes" || read_output_shape(value, node));
}

DISTRIBUTE_INLINE bool read_node(std::string_view bytes, summary::GraphNode& node) {
  io::ProtoReader fields(bytes);
  for (io::ProtoField field; fields.next(field);) {
    if (field.is(1, io::WireType::Bytes)) node.name = field.bytes;
    if (field.is(2, io::WireType::Bytes)) node.op = field.bytes;
    if (field.is(3, io::WireType::Bytes)) node.inputs.emplace_back(field.bytes);
    if (field.is(5, io::WireType::Bytes) && !read_attribute(field.bytes, node)) return false;
  }
  return fields.ok();
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
  io::ProtoWriter versions;
  versions.integer(1, 22);  // as early graphs: of what came later nothing is used
  graph.message(4, versions);
  return graph.take();
}

DISTRIBUTE_INLINE std::vector<GraphNode> decode_graph(std::string_view graph_def,
                                                      const std::string& where) {
  std::vector<GraphNode> nodes;
  io::ProtoReader graph(graph_def);
  bool ok = true;
  for (io::ProtoField field; ok && graph.next(field);)
    if (field.is(1, io::WireType::Bytes))
      ok = summary_internal::read_node(field.bytes, nodes.emplace_back());
  if (!ok || !graph.ok()) throw DataLossError(where + ": the graph is malformed");
  return nodes;
}

DISTRIBUTE_INLINE bool graph(std::span<const GraphNode> nodes, int64_t step) {
  const FileWriter* writer = summary_internal::current_writer();
  if (!writer) return false;
  writer->write_graph(step, encode_graph(nodes));
  return true;
}

}  // namespace distribute::summary
