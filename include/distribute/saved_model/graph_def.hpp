#pragma once
/// Translates functions to graphs of TensorFlow's operations.

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

/// Runs the function twice, with batches of two sizes, and records its operations: all its calls
/// must be operations of this library whose attributes do not depend on the input's values.
/// Throws  InvalidArgumentError for an input without axes or with further unknown sizes, and if the
///          two passes differ; UnimplementedError that names an operation which files cannot have;
///          what the function throws.
InferenceGraph trace_inference(const InferenceFunction& function, const TraceOptions& options);
/// Traces a function of several outputs, each under its key instead of `options.output_name`.
InferenceGraph trace_inference(const NamedOutputsFunction& function, const TraceOptions& options);

/// Returns the spec of a module's input: the given one, else that of its first call with unknown
/// batch.
/// Throws  FailedPreconditionError when there was no call.
data::TensorSpec inference_input(const nn::Module& module,
                                 const std::optional<data::TensorSpec>& given);

}  // namespace distribute::saved_model

namespace distribute::saved_model_internal {

/// Returns the operations that lead to the results. A result without a key comes last; those with
/// one are named by kOutput at the end.
std::vector<PassOp> compare_passes(const saved_model::NamedOutputsFunction& function,
                                   const data::TensorSpec& input);

}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

/// How the weights are stored: in the graph as constants (a frozen graph, one file), or as
/// variables with a TensorBundle beside it.
enum class Weights { Constants, Variables };

/// An encoded graph, and its variables for a SavedModel.
struct GraphDef {
  std::string bytes;                 // encoded
  std::vector<InferenceNode> saved;  // nodes of the variables, by name; empty with Constants
};

/// Names of the operations that save and restore variables.
inline constexpr const char* kSaverFilename = "save/filename";
inline constexpr const char* kSaverControl = "save/control_dependency";
inline constexpr const char* kSaverRestore = "save/restore_all";

/// Encodes a graph. Biases become BiasAdd, explicit paddings of convolutions Pad. Attributes with
/// their default values are left out, so that older and newer versions of TensorFlow can read the
/// graph.
/// Throws  InvalidArgumentError when constants make it larger than the 2 GiB of a message.
/// Source  tensorflow/core/framework/graph.proto
GraphDef encode_graph_def(const InferenceGraph& graph, Weights weights = Weights::Constants);

}  // namespace distribute::saved_model
