#pragma once
/// What the operation that made a tensor has found out for the operations that use it.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// Facts about the elements that save the next operation a pass over them. All handles to a tensor
/// share its hints. A tensor without hints gives the same results, only more slowly.
struct TensorHints {
  /// Serves fused normalization: for each channel the sum of its elements, then for each channel
  /// the sum of their squares, then the number of rows, float32 [2 channels + 1]; empty when
  /// unknown.
  Tensor channel_sums = {};
  /// Serves fused gradients: true when the tensor is the output of a ReLU.
  bool relu_output = false;
  /// Serves fused gradients: true when this gradient already has zeros where the ReLU below it let
  /// nothing through.
  bool gated = false;
  /// Says which steps of a sequence count, bool [batch, steps]; empty when all count. Losses,
  /// metrics and the next layer read it. Unlike the other hints it changes results.
  /// Source  _keras_mask of Keras's tensors
  Tensor mask = {};
  /// The input of the softmax or sigmoid that made this tensor, which crossentropies read; empty
  /// for a tensor that another operation made.
  /// Source  _keras_logits of Keras's tensors
  Tensor logits = {};

  /// Throws  InvalidArgumentError for an empty tensor.
  static const TensorHints& of(const Tensor& tensor);
  static TensorHints& of(Tensor& tensor);
};

}  // namespace distribute
