#pragma once
/// Writes models as SavedModel or ONNX files, and functions as graphs of TensorFlow's operations.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <map>
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
/// Traces a function of several inputs and outputs, `options.inputs`.
InferenceGraph trace_inference(const NamedFunction& function, const TraceOptions& options);

/// Returns the spec of a module's input: the given one, else the spec of its first call with
/// unknown batch.
/// Throws  FailedPreconditionError when there was no call.
data::TensorSpec inference_input(const nn::Module& module,
                                 const std::optional<data::TensorSpec>& given);

}  // namespace distribute::saved_model

namespace distribute::saved_model_internal {

/// Returns the operations that lead to the results. A result without a key comes last; those with
/// one are named by kOutput at the end.
std::vector<PassOp> compare_passes(const saved_model::NamedFunction& function,
                                   const saved_model::NamedSpecs& inputs);

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

/// Source  tf.saved_model.SaveOptions and the argument `signatures`
struct SaveOptions {
  /// Shape and type of the input, whose first axis is the batch; unset: those of the module's first
  /// call.
  std::optional<data::TensorSpec> input = {};
  NamedSpecs inputs = {};             // of a function of several, by their keys
  std::string input_name = "inputs";  // keys of the signature
  std::string output_name = "outputs";
  std::string signature = "serving_default";
  Weights weights = Weights::Constants;
  /// Files to copy to PATH/assets.extra, by their paths there; TensorFlow Serving's warm-up
  /// requests are one. Source  assets_extra of tf.estimator.Estimator.export_saved_model
  std::map<std::string, std::string> assets_extra = {};
};

/// Writes PATH/saved_model.pb, with Weights::Variables also PATH/variables. The graph computes what
/// the module computes outside of training, for batches of any size, in float32 whatever its
/// policy. The directory appears complete or, after an error, not at all, and replaces an older
/// SavedModel. On object stores, which cannot rename, saved_model.pb is written last. With several
/// workers every worker calls it, as model.save in Keras: the chief writes PATH, the others below
/// `workertemp_<id>` beside it, which they remove.
/// Blocks  until the chief's directory is complete.
/// Throws  as trace_inference; FailedPreconditionError for a module that was never called and no
///          input given; InvalidArgumentError for constants of 2 GiB and more, and for a path
///          outside of assets.extra; AlreadyExistsError for a path that is something else; errors
///          of files (PermissionDeniedError, ResourceExhaustedError for a full disk, ...).
/// Source  tf.saved_model.save, tf.keras.Model.save
void save(nn::Module& module, const std::string& path, const SaveOptions& options = {});
/// Writes any function of one tensor, such as a module with its preprocessing and a softmax behind
/// it; needs `options.input`.
void save(const InferenceFunction& function, const std::string& path, const SaveOptions& options);
/// Writes a function with several outputs, each under its key in the signature; `output_name` does
/// not count. Viewers and servers show the keys.
void save(const NamedOutputsFunction& function, const std::string& path,
          const SaveOptions& options);
/// Writes a function with several inputs and outputs; needs `options.inputs`.
void save(const NamedFunction& function, const std::string& path, const SaveOptions& options);

/// Checks before a long training that save() may write there; makes missing parent directories.
/// Throws  AlreadyExistsError for a path that is something else than a SavedModel or an empty
///          directory; PermissionDeniedError and others with the path.
void check_path(const std::string& path);

/// Returns an encoded SavedModel message.
std::string encode_saved_model(const InferenceGraph& graph, const GraphDef& def,
                               const SaveOptions& options);

struct OnnxOptions {  // options of export_onnx()
  /// Shape and type of the input, whose first axis is the batch; unset: those of the module's first
  /// call.
  std::optional<data::TensorSpec> input = {};
  NamedSpecs inputs = {};  // of a function of several, by their keys
  std::string input_name = "inputs";
  std::string output_name = "outputs";
  /// Total bytes of constants above which they are written to a file beside the model; a message
  /// holds at most 2 GiB.
  int64_t external_data_above = int64_t{2000} << 20;
};

/// Writes what the module computes outside of training, for batches of any size, in float32
/// whatever its policy, as operations of ONNX's opset 17. Inputs and outputs keep NHWC; inside,
/// images are transposed once and convolutions get transposed weights. Large models have their
/// constants in FILE.data. The file is replaced completely or, after an error, not at all. With
/// several workers every worker calls it, as saved_model::save.
/// Throws  as saved_model::save.
/// Source  github.com/onnx/onnx, docs/IR.md, docs/Operators.md
void export_onnx(nn::Module& module, const std::string& file, const OnnxOptions& options = {});
/// Writes any function of one tensor; needs `options.input`.
void export_onnx(const InferenceFunction& function, const std::string& file,
                 const OnnxOptions& options);
/// Writes a function with several inputs and outputs; needs `options.inputs`.
void export_onnx(const NamedFunction& function, const std::string& file,
                 const OnnxOptions& options);

}  // namespace distribute::saved_model
