#pragma once
/// Single layers made of Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <memory>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

using MadeLayer = std::unique_ptr<nn::Module>;

/// Throws  UnimplementedError for a class or option that is not known here; what the layer throws.
MadeLayer make_layer(const nlohmann::ordered_json& object);

}  // namespace distribute::saving_internal
