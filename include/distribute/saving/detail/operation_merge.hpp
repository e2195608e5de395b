#pragma once
/// Sums, products and so on that are operations, not layers, in Keras's graphs.

#include <distribute/base/config.hpp>
#include <distribute/nn/merging.hpp>

namespace distribute::saving_internal {

/// The operation `x + y` in a functional model of Keras: it computes as the layer Add, but its
/// result has no mask.
/// Source  keras.src.ops.numpy.Add
class OperationMerge : public nn::Merge {
 public:
  using nn::Merge::Merge;

 private:
  bool supports_masking() const override { return false; }
};

}  // namespace distribute::saving_internal
