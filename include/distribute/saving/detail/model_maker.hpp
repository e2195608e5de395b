#pragma once
/// Layers and models made of Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <memory>
#include <string>

namespace distribute::saving_internal {

/// A Sequential or Functional of a config.json, built, with weights to be loaded. Errors call the
/// file `name`.
/// Throws  UnimplementedError that names a layer or an option that is not known here; DataLossError
///         for a text that is no such configuration.
std::unique_ptr<nn::Module> make_model(const std::string& config, const std::string& name);

}  // namespace distribute::saving_internal
