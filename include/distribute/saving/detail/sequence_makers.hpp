#pragma once
/// Layers of sequences made of Keras's configurations.

#include <distribute/base/config.hpp>
#include <distribute/saving/detail/layer_maker.hpp>

namespace distribute::saving_internal {

/// The option under which the reader of a graph hands on what Keras says in each call.
inline constexpr const char* kCausalMask = "use_causal_mask";

/// Attention, recurrent layers, convolutions and pools of steps, embeddings.
void add_sequence_makers(LayerMakers& makers);

}  // namespace distribute::saving_internal
