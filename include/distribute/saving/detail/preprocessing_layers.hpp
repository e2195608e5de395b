#pragma once
/// Layers of the annex preprocessing in Keras's configurations, both ways.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saving/detail/layer_maker.hpp>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

/// Appends what stands for Normalization, Rescaling or a layer that changes pictures at random;
/// false for other layers.
bool add_preprocessing_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

/// The same layers, and refusals of those that are no modules here.
void add_preprocessing_makers(LayerMakers& makers);

}  // namespace distribute::saving_internal
