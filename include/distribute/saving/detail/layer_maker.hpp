#pragma once
/// Single layers made of Keras's configurations.

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

/// Throws  UnimplementedError for a class or option that is not known here; what the layer throws.
MadeLayer make_layer(const nlohmann::ordered_json& object);

/// "keras.src.ops.numpy" for what a graph has as an operation of tensors.
bool is_operation(const nlohmann::ordered_json& object);

template <typename Layer, typename... Arguments>
MadeLayer made(Arguments&&... arguments) {
  return std::make_unique<Layer>(std::forward<Arguments>(arguments)...);
}

/// The maker of a layer that pools all steps, or all pixels.
template <typename Layer>
LayerMaker global_pool_maker() {
  return [](ConfigReader& r) {
    return made<Layer>(nn::GlobalPoolLayerOptions{.keepdims = r.get("keepdims", false)});
  };
}

/// The option under which the reader of a graph hands on what Keras says in each call.
inline constexpr const char* kCausalMask = "use_causal_mask";

/// Attention, recurrent layers, convolutions and pools of steps, embeddings.
void add_sequence_makers(LayerMakers& makers);

}  // namespace distribute::saving_internal
