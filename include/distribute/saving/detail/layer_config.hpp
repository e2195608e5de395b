#pragma once
/// Layers as Keras's configurations describe them.

#include <distribute/base/config.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/module.hpp>

#include <string>
#include <utility>
#include <vector>

namespace distribute::saving_internal {

/// The JSON text of a Sequential or a Functional with its layers.
/// Throws  UnimplementedError that names a layer which it cannot describe, or another model.
std::string model_config(const nn::Module& model);

/// Functions under Keras's names.
std::vector<std::pair<nn::ActivationFunction, const char*>> activations();

}  // namespace distribute::saving_internal
