#pragma once
/// Attention on a GPU's cuDNN.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>

namespace distribute::nn {
struct AttentionOptions;  // attention.hpp, whose bodies need this header
}  // namespace distribute::nn

namespace distribute::ops_internal {

/// dot_product_attention of checked tensors on a GPU, recorded, without all scores in memory.
/// Nothing, and one line of the log in a process, where cuDNN is missing or does not serve:
/// float32, masks, dropout, a depth that it does not take.
std::optional<Tensor> cudnn_attend(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const nn::AttentionOptions& options, double scale);

}  // namespace distribute::ops_internal
