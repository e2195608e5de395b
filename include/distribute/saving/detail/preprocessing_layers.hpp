#pragma once
/// Writes and reads layers of the annex preprocessing in Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saving/detail/layer_maker.hpp>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

/// Appends the configuration of Normalization, Rescaling or a layer that changes images at random;
/// returns false for other layers.
bool add_preprocessing_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

/// Adds makers of the same layers, and errors for those that are no modules here.
void add_preprocessing_makers(LayerMakers& makers);

}  // namespace distribute::saving_internal
