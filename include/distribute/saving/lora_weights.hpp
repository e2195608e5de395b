#pragma once
/// Files of the small matrices that LoRA trains, without the model that they belong to.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/lora.hpp>

#include <string>

namespace distribute::saving {

/// Writes the matrices of all layers with LoRA to a `.safetensors` file, under the places of the
/// layers in the model, "h.0.attn.query.lora_kernel_a", with the alphas in the metadata. With
/// several workers every worker calls it, and the chief's file is kept.
/// Blocks  until the chief's file is complete.
/// Throws  InvalidArgumentError for another ending; FailedPreconditionError for a model without
///          LoRA; errors of files.
/// Source  keras_hub.models.Backbone.save_lora_weights
void save_lora_weights(nn::Module& model, const std::string& path);

/// Gives the layers with LoRA, which enable_lora() made with the rank and the alpha of the file,
/// its matrices. Tensors of the file that no layer has are listed in `unused`.
/// Throws  NotFoundError for a file, or a matrix that it lacks; InvalidArgumentError for another
///          rank or alpha; FailedPreconditionError for a model without LoRA; DataLossError for a
///          damaged file. Then nothing is assigned.
/// Source  keras_hub.models.Backbone.load_lora_weights
train::LoadedWeights load_lora_weights(nn::Module& model, const std::string& path);

}  // namespace distribute::saving
