#pragma once
/// Finds a module's layers by their paths in Keras's files.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module.hpp>

#include <string>
#include <vector>

namespace distribute::saving_internal {

/// The weights of one layer, without those of its parts.
struct WeightGroup {
  std::string path;                 // "layers/dense"; the model's own are ""
  std::string layer;                // its name, such as "dense_1"
  std::vector<Variable> variables;  // trained ones first, as in Keras
  std::string rest = {};            // rest of the path, inside of the model's part
  std::string outermost = {};       // the name of the model's part
  bool trainable = true;            // false: frozen
};

/// Returns "path/name"; the name alone without a path.
std::string below(const std::string& path, const std::string& name);

/// Returns the layers in Keras's order. Layers without weights are included, as they have groups in
/// files, too.
/// Source  keras.src.saving.saving_lib._save_state
std::vector<WeightGroup> weight_groups(const nn::Module& module);

/// Returns the layers of a graph that its outputs need: those far from the outputs first, as in
/// Keras, whose files count layers in this order.
/// Source  keras.src.ops.function.map_graph
std::vector<const nn::Module*> layers_in_order(const nn::Functional& model);

/// Whether this module is a functional model in Keras, whose layers have their own names.
bool is_functional(const nn::Module& module);

}  // namespace distribute::saving_internal
