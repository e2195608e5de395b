#pragma once
/// Looks into encoded messages field by field.

#include <distribute/io/protobuf.hpp>

#include <tests/support/catch.hpp>

namespace proto {

using namespace distribute;

/// All values of a bytes field.
inline std::vector<std::string_view> all(std::string_view message, uint32_t field) {
  std::vector<std::string_view> values;
  io::ProtoReader reader(message);
  for (io::ProtoField found; reader.next(found);)
    if (found.is(field, io::WireType::Bytes)) values.push_back(found.bytes);
  REQUIRE(reader.ok());
  return values;
}
inline std::string_view one(std::string_view message, uint32_t field) {
  const auto values = all(message, field);
  REQUIRE(values.size() == 1);
  return values[0];
}
/// An integer field; 0 where it is left out.
inline int64_t number(std::string_view message, uint32_t field) {
  int64_t value = 0;
  io::ProtoReader reader(message);
  for (io::ProtoField found; reader.next(found);)
    if (found.is(field, io::WireType::Varint)) value = found.as_int64();
  REQUIRE(reader.ok());
  return value;
}
/// Packed integers.
inline std::vector<int64_t> numbers(std::string_view message, uint32_t field) {
  std::vector<int64_t> values;
  io::ProtoReader reader(message);
  for (io::ProtoField found; reader.next(found);)
    if (found.number == field) REQUIRE(io::append_integers(found, values));
  return values;
}
/// The value under `key` of a map<string, message> field; empty where there is none.
inline std::string_view entry(std::string_view message, uint32_t field, std::string_view key) {
  for (const std::string_view pair : all(message, field))
    if (one(pair, 1) == key) return one(pair, 2);
  return {};
}

/// A node of a GraphDef.
struct Node {
  std::string name, op;
  std::vector<std::string> inputs;
  std::string_view message;
  std::string_view attribute(std::string_view key) const { return entry(message, 5, key); }
};
inline std::vector<Node> graph_nodes(std::string_view graph_def) {
  std::vector<Node> nodes;
  for (const std::string_view message : all(graph_def, 1)) {
    Node node{std::string(one(message, 1)), std::string(one(message, 2)), {}, message};
    for (const std::string_view input : all(message, 3)) node.inputs.emplace_back(input);
    nodes.push_back(node);
  }
  return nodes;
}
inline Node node_called(std::string_view graph_def, const std::string& name) {
  for (Node& node : graph_nodes(graph_def))
    if (node.name == name) return node;
  FAIL("no node is called " << name);
  return {};
}

}  // namespace proto
