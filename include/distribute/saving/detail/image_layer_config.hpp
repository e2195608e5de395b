#pragma once
/// Layers of images as Keras's configurations describe them.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

/// Appends what stands for a convolution, a pool, or what moves pixels; false for other layers.
bool add_image_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

}  // namespace distribute::saving_internal
