#pragma once
/// Makes single layers from Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/saving/detail/config_reader.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

namespace distribute::saving_internal {

using MadeLayer = std::unique_ptr<nn::Module>;
using LayerMaker = std::function<MadeLayer(ConfigReader&)>;
/// Functions that make layers, by the names of Keras's classes.
using LayerMakers = std::map<std::string, LayerMaker>;

/// Makes a layer.
/// Throws  UnimplementedError for an unknown class or option; what the layer throws.
MadeLayer make_layer(const nlohmann::ordered_json& object);

/// Whether the object is an operation of tensors in a graph, of "keras.src.ops.numpy".
bool is_operation(const nlohmann::ordered_json& object);

template <typename Layer, typename... Arguments>
MadeLayer made(Arguments&&... arguments) {
  return std::make_unique<Layer>(std::forward<Arguments>(arguments)...);
}

/// Returns the maker of a layer that pools all steps, or all pixels.
template <typename Layer>
LayerMaker global_pool_maker() {
  return [](ConfigReader& r) {
    return made<Layer>(nn::GlobalPoolLayerOptions{.keepdims = r.get("keepdims", false)});
  };
}

/// Option with which the reader of a graph passes on an argument of each call in Keras.
inline constexpr const char* kCausalMask = "use_causal_mask";

/// Adds makers of convolutions, pools, padding and cropping of images and volumes.
void add_image_makers(LayerMakers& makers);

/// Adds makers of attention, recurrent layers, convolutions and pools of steps, embeddings.
void add_sequence_makers(LayerMakers& makers);

}  // namespace distribute::saving_internal
