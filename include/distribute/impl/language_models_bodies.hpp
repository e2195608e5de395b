#pragma once
/// The bodies that language_models.hpp reaches.
/// Written by tools/check_umbrella.py.

#include <distribute/base/detail/macros_aside.inc>

#include <distribute/impl/language_models_src.hpp>
#include <distribute/impl/tensor_shared.hpp>

#include <distribute/base/impl/number_text.ipp>
#include <distribute/base/impl/untrusted_json.ipp>

#include <distribute/device/impl/cuda_activity.ipp>
#include <distribute/device/impl/cuda_activity_cupti.ipp>
#include <distribute/device/impl/cuda_blas.ipp>
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#include <distribute/device/impl/cuda_plain_backend.ipp>
#include <distribute/device/impl/cuda_transpose.ipp>

#include <distribute/ops/impl/activation.ipp>
#include <distribute/ops/impl/attention.ipp>
#include <distribute/ops/impl/attention_blocks.ipp>
#include <distribute/ops/impl/attention_blocks_gpu.ipp>
#include <distribute/ops/impl/attention_products.ipp>
#include <distribute/ops/impl/batch_norm.ipp>
#include <distribute/ops/impl/channel_block.ipp>
#include <distribute/ops/impl/channel_norm.ipp>
#include <distribute/ops/impl/cross_entropy.ipp>
#include <distribute/ops/impl/gpu_batch_norm.ipp>
#include <distribute/ops/impl/gpu_batch_norm_vectors.ipp>
#include <distribute/ops/impl/layer_norm.ipp>
#include <distribute/ops/impl/norm_passes.ipp>
#include <distribute/ops/impl/norm_passes_gpu.ipp>
#include <distribute/ops/impl/softmax.ipp>

#include <distribute/nn/impl/activation.ipp>
#include <distribute/nn/impl/activation_layers.ipp>
#include <distribute/nn/impl/constraints.ipp>
#include <distribute/nn/impl/crossentropy_scores.ipp>
#include <distribute/nn/impl/dense.ipp>
#include <distribute/nn/impl/einsum_dense.ipp>
#include <distribute/nn/impl/embedding.ipp>
#include <distribute/nn/impl/group_normalization.ipp>
#include <distribute/nn/impl/loss_parts.ipp>
#include <distribute/nn/impl/masking.ipp>
#include <distribute/nn/impl/module_list.ipp>
#include <distribute/nn/impl/normalization.ipp>
#include <distribute/nn/impl/regularizers.ipp>

#include <distribute/saving/impl/weight_layouts.ipp>
#include <distribute/saving/impl/weight_names.ipp>

#include <distribute/base/detail/macros_back.inc>
