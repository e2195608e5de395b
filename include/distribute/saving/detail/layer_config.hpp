#pragma once
/// Single layers as Keras's configurations describe them.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

/// Appends what stands for attention, a recurrent layer, or a convolution of steps; false for other
/// layers.
bool add_sequence_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

/// Appends what stands for a convolution of images, a pool, or what moves pixels; false for other
/// layers.
bool add_image_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

/// Appends what stands for a layer in Keras: one layer, or two.
/// Throws  UnimplementedError that names a layer which it cannot describe.
void add_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

}  // namespace distribute::saving_internal
