#pragma once
/// Runs SavedModels and frozen graphs of this library or of TensorFlow.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/tensor/tensor.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace distribute::saved_model_internal {
class GraphRunner;
struct SignatureParts;
}  // namespace distribute::saved_model_internal

namespace distribute::saved_model {

using NamedTensors = std::map<std::string, Tensor>;

/// A function of a loaded graph; copies share the graph. Thread-safe unless the graph assigns its
/// variables.
/// Source  tf.types.experimental.ConcreteFunction
class LoadedFunction {
 public:
  explicit LoadedFunction(std::shared_ptr<const saved_model_internal::SignatureParts> parts)
      : parts_(std::move(parts)) {}

  /// Calls the function with inputs by the keys of the signature, and returns outputs by theirs.
  /// Throws  InvalidArgumentError for an input that is missing, unknown, or of another type or
  ///          shape than in the signature; what the operations throw.
  NamedTensors operator()(const NamedTensors& inputs) const;
  /// Calls a function of one input and one output.
  Tensor operator()(const Tensor& x) const;

  /// Returns the specs of the inputs. Sizes that depend on the batch are -1; an input of any rank
  /// has no sizes.
  std::map<std::string, data::TensorSpec> inputs() const;
  std::vector<std::string> outputs() const;

 private:
  std::shared_ptr<const saved_model_internal::SignatureParts> parts_;
};

/// Result of load(). Source  the result of tf.saved_model.load
struct LoadedModel {
  std::map<std::string, LoadedFunction> signatures;

  /// Returns a signature.
  /// Throws  NotFoundError, with the names of the signatures.
  const LoadedFunction& signature(const std::string& name = "serving_default") const;
};

/// Reads PATH/saved_model.pb and the variables beside it, and checks that every operation of the
/// signatures is supported: docs/loading.md has the list. Only float32, float16, bfloat16, int32,
/// int64, uint8 and bool are supported, but no tables and no training.
/// Throws  NotFoundError for a missing path or tags; DataLossError for damaged files;
///          UnimplementedError that names all operations which are not supported.
/// Source  tf.saved_model.load
LoadedModel load(const std::string& path, const std::set<std::string>& tags = {"serve"});

/// Names of tensors; an empty list stands for all placeholders, or all nodes whose results are
/// unused.
struct FrozenGraphOptions {
  std::vector<std::string> inputs = {}, outputs = {};
};

/// Loads a GraphDef with the weights as constants; keys are the given names, such as "x" or "x:0".
/// Throws  as load.
/// Source  tf.graph_util.import_graph_def; convert_variables_to_constants_v2 writes them
LoadedFunction load_frozen_graph(const std::string& path, const FrozenGraphOptions& options = {});

}  // namespace distribute::saved_model
