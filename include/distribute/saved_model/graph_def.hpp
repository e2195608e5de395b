#pragma once
/// Functions as graphs of TensorFlow's operations.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::io {
class ProtoWriter;
}  // namespace distribute::io

namespace distribute::saved_model {

/// Runs the function twice, with batches of two sizes, and lists what it does: all that it calls
/// must be operations of this library whose numbers do not depend on the input.
/// Throws  InvalidArgumentError for an input without axes or with further unknown sizes, and where
///         the two passes differ; UnimplementedError that names an operation which files cannot
///         have; what the function throws.
InferenceGraph trace_inference(const InferenceFunction& function, const TraceOptions& options);

/// The spec of a module's input: as given, else of its first call, the batch unknown.
/// Throws  FailedPreconditionError when there was none.
data::TensorSpec inference_input(const nn::Module& module,
                                 const std::optional<data::TensorSpec>& given);

}  // namespace distribute::saved_model

namespace distribute::saved_model_internal {

/// The operations that lead to the result, which comes last.
std::vector<PassOp> compare_passes(const saved_model::InferenceFunction& function,
                                   const data::TensorSpec& input);

}  // namespace distribute::saved_model_internal

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

namespace distribute::saved_model_internal {

/// A TensorShapeProto; -1 for unknown sizes.
io::ProtoWriter shape_proto(const std::vector<int64_t>& sizes);

}  // namespace distribute::saved_model_internal
