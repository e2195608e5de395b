#pragma once
/// Runs SavedModels and frozen graphs, written here or by TensorFlow.

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

/// A function of a loaded graph. A value: copies share the graph. Thread-safe unless the graph
/// assigns its variables.
/// Source  tf.types.experimental.ConcreteFunction
class LoadedFunction {
 public:
  explicit LoadedFunction(std::shared_ptr<const saved_model_internal::SignatureParts> parts)
      : parts_(std::move(parts)) {}

  /// Inputs and outputs by the keys of the signature.
  /// Throws  InvalidArgumentError for an input that is missing, unknown, or of another type or
  ///         shape than the signature says; what the operations throw.
  NamedTensors operator()(const NamedTensors& inputs) const;
  /// For functions of one input and one output.
  Tensor operator()(const Tensor& x) const;

  /// Sizes that follow the batch are -1; an input of any rank has none.
  std::map<std::string, data::TensorSpec> inputs() const;
  std::vector<std::string> outputs() const;

 private:
  std::shared_ptr<const saved_model_internal::SignatureParts> parts_;
};

/// Source  what tf.saved_model.load gives
struct LoadedModel {
  std::map<std::string, LoadedFunction> signatures;

  /// Throws  NotFoundError, with the signatures that there are.
  const LoadedFunction& signature(const std::string& name = "serving_default") const;
};

/// Reads PATH/saved_model.pb and the variables beside it, and checks that every operation of the
/// signatures is there: docs/loading.md has the list. Only float32, float16, bfloat16, int32,
/// int64, uint8 and bool; no tables, no training.
/// Throws  NotFoundError for a path or tags that are not there; DataLossError for damaged files;
///         UnimplementedError that names all operations which are not there.
/// Source  tf.saved_model.load
LoadedModel load(const std::string& path, const std::set<std::string>& tags = {"serve"});

/// Names of tensors; empty lists: all placeholders, and all nodes that nothing reads.
struct FrozenGraphOptions {
  std::vector<std::string> inputs = {}, outputs = {};
};

/// A GraphDef with the weights as constants; keys are the names given, such as "x" or "x:0".
/// Throws  as load.
/// Source  tf.graph_util.import_graph_def; convert_variables_to_constants_v2 writes them
LoadedFunction load_frozen_graph(const std::string& path, const FrozenGraphOptions& options = {});

}  // namespace distribute::saved_model
