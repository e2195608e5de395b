#pragma once
/// Writes single layers as Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

/// Appends the configuration of attention, a recurrent layer, or a convolution of steps; returns
/// false for other layers.
bool add_sequence_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

/// Appends the configuration of a convolution of images, a pool, or a layer that moves pixels;
/// returns false for other layers.
bool add_image_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

/// Appends the configuration of a layer: one layer of Keras, or two.
/// Throws  UnimplementedError that names a layer which it cannot describe.
void add_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

}  // namespace distribute::saving_internal
