#pragma once
/// Names and order of a model's parts in Keras, on which file formats depend.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <string>
#include <vector>

namespace distribute::nn {

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
