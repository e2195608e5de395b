#pragma once
/// A module's layers under the paths that Keras's files have for them.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module.hpp>

#include <string>
#include <vector>

namespace distribute::saving_internal {

/// Own weights of one layer.
struct WeightGroup {
  std::string path;                 // "layers/dense"; the model's own are ""
  std::string layer;                // its name, such as "dense_1"
  std::vector<Variable> variables;  // those that are trained first, as in Keras
  std::string rest = {};            // what of the path is inside of the model's part
  std::string outermost = {};       // the name of the model's part
  bool trainable = true;            // false: frozen
};

/// "path/name"; the name alone where there is no path.
std::string below(const std::string& path, const std::string& name);

/// In Keras's order. Layers without weights count, as they have groups in files, too.
/// Source  keras.src.saving.saving_lib._save_state
std::vector<WeightGroup> weight_groups(const nn::Module& module);

/// The layers of a graph that its outputs need: those far from the outputs first, as in Keras,
/// whose files count layers in this order.
/// Source  keras.src.ops.function.map_graph
std::vector<const nn::Module*> layers_in_order(const nn::Functional& model);

/// Whether Keras has this module as a functional model, whose layers have names of their own.
bool is_functional(const nn::Module& module);

}  // namespace distribute::saving_internal
