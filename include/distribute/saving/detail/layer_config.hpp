#pragma once
/// Layers as Keras's configurations describe them.

#include <distribute/base/config.hpp>
#include <distribute/nn/sequential.hpp>

#include <string>

namespace distribute::saving_internal {

/// The JSON text of a Sequential with its layers.
/// Throws  UnimplementedError that names a layer which it cannot describe.
std::string model_config(const nn::Sequential& model);

}  // namespace distribute::saving_internal
