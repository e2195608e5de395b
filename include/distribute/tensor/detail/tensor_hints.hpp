#pragma once
/// What the operation that made a tensor has found out for the operations that use it.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

/// Facts about the elements that save the next operation a pass. Kept with the tensor: all handles
/// to it share them, and a tensor without hints is used in the same way, only slower.
struct TensorHints {
  /// For fused normalization: the sums over each channel of the elements, those of their squares,
  /// then the number of rows, float32 [2 channels + 1]; else none.
  Tensor channel_sums = {};
  /// For fused gradients: the tensor came out of a ReLU.
  bool relu_output = false;
  /// For fused gradients: the gate of the ReLU below has been applied to this gradient already.
  bool gated = false;
  /// For losses, metrics and the next layer: bool [batch, steps], the steps that count; none: all.
  /// Unlike the others it is a part of what the layer that made the tensor says.
  /// Source  _keras_mask of Keras's tensors
  Tensor mask = {};
  /// For crossentropies: what softmax or sigmoid made this tensor of; none: it came otherwise.
  /// Source  _keras_logits of Keras's tensors
  Tensor logits = {};

  /// Throws  InvalidArgumentError for an empty tensor.
  static const TensorHints& of(const Tensor& tensor);
  static TensorHints& of(Tensor& tensor);
};

}  // namespace distribute
