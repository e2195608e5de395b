#pragma once
/// Writes models as Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace distribute::nn {
class Functional;
class Sequential;
}  // namespace distribute::nn

namespace distribute::saving_internal {

/// Returns the JSON text of a Sequential or a Functional with its layers.
/// Throws  UnimplementedError that names a layer which it cannot describe, or another model.
std::string model_config(const nn::Module& model);

/// Returns the configuration as an object, also for models that are parts of others.
nlohmann::ordered_json sequential_object(const nn::Sequential& model);
nlohmann::ordered_json functional_object(const nn::Functional& model);

}  // namespace distribute::saving_internal
