#pragma once
/// Layers of sequences as Keras's configurations describe them.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

/// Appends what stands for attention, a recurrent layer, or a convolution or pool of steps; false
/// for other layers.
bool add_sequence_layer(const nn::Module& layer, nlohmann::ordered_json& layers);

}  // namespace distribute::saving_internal
