#pragma once
/// Sums, products and so on that Keras's graphs have as operations, not as layers.

#include <distribute/base/config.hpp>
#include <distribute/nn/merging.hpp>

namespace distribute::saving_internal {

/// What `x + y` is in a functional model of Keras: as the layer Add, but its result has no mask.
/// Source  keras.src.ops.numpy.Add
class OperationMerge : public nn::Merge {
 public:
  using nn::Merge::Merge;

 private:
  bool supports_masking() const override { return false; }
};

}  // namespace distribute::saving_internal
