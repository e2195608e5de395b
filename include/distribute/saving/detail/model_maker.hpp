#pragma once
/// Makes models from Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <memory>
#include <string>

namespace distribute::saving_internal {

/// Makes the Sequential or Functional of a config.json, built, without its weights. Errors call the
/// file `name`.
/// Throws  UnimplementedError that names an unknown layer or option; DataLossError for a text that
///          is no such configuration.
std::unique_ptr<nn::Module> make_model(const std::string& config, const std::string& name);

}  // namespace distribute::saving_internal
