#pragma once
/// TensorFlow's GraphDef of an inference graph.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/inference_graph.hpp>

#include <string>
#include <vector>

namespace distribute::saved_model {

/// Where the weights are: in the graph as constants (a frozen graph, one file), or in variables
/// that a TensorBundle beside it fills.
enum class Weights { Constants, Variables };

/// A graph in TensorFlow's terms, and what a SavedModel says about its variables.
struct GraphDef {
  std::string bytes;                 // encoded
  std::vector<InferenceNode> saved;  // nodes of the variables, by name; none with Constants
};

/// What the operations that save and restore variables are called.
inline constexpr const char* kSaverFilename = "save/filename";
inline constexpr const char* kSaverControl = "save/control_dependency";
inline constexpr const char* kSaverRestore = "save/restore_all";

/// Biases become BiasAdd, explicit paddings of convolutions Pad. Attributes with their default
/// values are left out, so that older and newer versions of TensorFlow read the graph alike.
/// Throws  InvalidArgumentError when constants make it larger than the 2 GiB of a message.
/// Source  tensorflow/core/framework/graph.proto
GraphDef encode_graph_def(const InferenceGraph& graph, Weights weights = Weights::Constants);

}  // namespace distribute::saved_model
