#pragma once
/// Penalties on weights.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <vector>

namespace distribute::nn {

/// The penalty l1 * sum(|w|) + l2 * sum(w^2), without a factor 1/2.
/// Source  tf.keras.regularizers.L1L2
struct Regularizer {
  double l1 = 0;
  double l2 = 0;
  explicit operator bool() const { return l1 != 0 || l2 != 0; }
  /// Returns the penalty as a scalar, recorded on the active tapes.
  Tensor operator()(const Tensor& weight) const;
};

/// Source  tf.keras.regularizers
namespace regularizers {

inline Regularizer l1(double factor = 0.01) { return {factor, 0}; }  // factor * sum |w|
inline Regularizer l2(double factor = 0.01) { return {0, factor}; }  // factor * sum w^2

inline Regularizer L1(double factor = 0.01) { return l1(factor); }
inline Regularizer L2(double factor = 0.01) { return l2(factor); }
inline Regularizer L1L2(double l1 = 0, double l2 = 0) { return {l1, l2}; }

}  // namespace regularizers

namespace nn_internal {
/// Returns the penalties of those weights of a layer that exist and have a regularizer.
std::vector<Tensor> penalties(const Regularizer& on_kernel, const Variable& kernel,
                              const Regularizer& on_bias, const Variable& bias);
}  // namespace nn_internal

}  // namespace distribute::nn
