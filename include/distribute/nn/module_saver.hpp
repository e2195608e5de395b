#pragma once
/// How a module is written for other programs: <distribute/saved_model.hpp> brings the SavedModel,
/// <distribute/saving.hpp> the files of Keras; and names and order of its parts in Keras.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <functional>
#include <string>
#include <vector>

namespace distribute::saved_model {
struct SaveOptions;
}

namespace distribute::nn {

class Module;

/// Writes `module` at `path`; null options are the default ones.
using ModuleSaver = std::function<void(Module& module, const std::string& path,
                                       const saved_model::SaveOptions* options)>;

/// Sets the saver that Model::save uses for paths with this ending, such as ".keras"; an empty
/// ending stands for all other paths. An empty saver removes the entry. Thread-compatible.
void register_module_saver(ModuleSaver saver, const std::string& ending = "");

/// Writes the module with the saver registered for the path.
/// Throws  FailedPreconditionError in a program without the headers of that saver.
void save_module(Module& module, const std::string& path, const saved_model::SaveOptions* options);
/// Checks before a long training that save_module() has a saver for the path.
/// Throws  FailedPreconditionError if it has none.
void check_module_saver(const std::string& path);

/// Returns the layers of a Sequential, a Functional or an applications::ResNet in the order of
/// Keras, with null for operations that only Keras has: inputs, and the arithmetic of masks. Layers
/// far from the outputs come first; those that no output needs are left out. Other modules give an
/// empty list.
/// Source  keras.src.ops.function.map_graph, the model's _operations
std::vector<const Module*> keras_operations(const Module& model);

/// Returns keras_operations(), or a module's parts if it has no such list.
/// Source  tf.keras.Model.layers
std::vector<const Module*> keras_layers(const Module& module);

/// Returns the attribute of Keras's layer that holds the weight or part called `name` here:
/// "_kernel" of Dense, "_query_dense" of MultiHeadAttention. Parts of your own modules keep their
/// names.
std::string keras_attribute(const Module& module, const std::string& name);

/// Returns the trainable weights in the order of Keras: a layer's own, then those of its parts.
/// Source  tf.keras.layers.Layer.trainable_variables
std::vector<Variable> keras_trainable_variables(const Module& module);

}  // namespace distribute::nn
