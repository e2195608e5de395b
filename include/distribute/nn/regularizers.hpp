#pragma once
/// Penalties on weights.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// l1 * sum(|w|) + l2 * sum(w^2); no factor 1/2.
/// Source  tf.keras.regularizers.L1L2
struct Regularizer {
  float l1 = 0.0f;
  float l2 = 0.0f;
  explicit operator bool() const { return l1 != 0.0f || l2 != 0.0f; }
  /// A scalar, recorded on the active tapes.
  Tensor operator()(const Tensor& weight) const;
};

/// Source  tf.keras.regularizers
namespace regularizers {

inline Regularizer l1(float factor = 0.01f) { return {factor, 0.0f}; }
inline Regularizer l2(float factor = 0.01f) { return {0.0f, factor}; }

}  // namespace regularizers

}  // namespace distribute::nn

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/nn/impl/regularizers.ipp>
#endif
