#pragma once
/// Graphs for TensorBoard's graph dashboard.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::summary {

/// Source  tensorflow/core/framework/node_def.proto
struct GraphNode {
  std::string name;                        // slashes make groups that can be opened
  std::string op;                          // such as "Conv2D"
  std::vector<std::string> inputs = {};    // names of nodes
  std::vector<int64_t> output_shape = {};  // -1: unknown size
  bool has_output_shape = false;
};

/// An encoded GraphDef.
/// Throws  InvalidArgumentError for two nodes of one name and for inputs that are no node.
std::string encode_graph(std::span<const GraphNode> nodes);
/// The nodes of an encoded GraphDef. `where` is for messages.
/// Throws  DataLossError when the bytes are malformed.
std::vector<GraphNode> decode_graph(std::string_view graph_def, const std::string& where);

/// Writes a graph to the writer in scope; says whether it did, as scalar() does.
/// Source  tf.summary.graph
bool graph(std::span<const GraphNode> nodes, int64_t step = 0);

}  // namespace distribute::summary
