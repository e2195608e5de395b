#pragma once
/// What Keras calls the parts of a model, and in which order it counts them: files depend on it.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <string>
#include <vector>

namespace distribute::nn {

/// The layers of a Sequential, a Functional or an applications::ResNet in the order of Keras, with
/// null for what Keras adds of its own: inputs, and the arithmetic of masks. Those far from the
/// outputs come first; layers that no output needs are left out. Empty for other modules. Source
/// keras.src.ops.function.map_graph, the model's _operations
std::vector<const Module*> keras_operations(const Module& model);

/// The layers of a module in the order of Keras: those of keras_operations(), else its parts.
/// Source  tf.keras.Model.layers
std::vector<const Module*> keras_layers(const Module& module);

/// The attribute of Keras's layer that holds the weight or part called `name` here: "_kernel" of
/// Dense, "_query_dense" of MultiHeadAttention. Parts of your own modules keep their names.
std::string keras_attribute(const Module& module, const std::string& name);

/// The weights that are trained, in the order of Keras: a layer's own, then those of its parts.
/// Source  tf.keras.layers.Layer.trainable_variables
std::vector<Variable> keras_trainable_variables(const Module& module);

}  // namespace distribute::nn
