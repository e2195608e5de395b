#pragma once
/// Penalties on weights, and constraints that optimizers apply to them.

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
inline Regularizer l1_l2(double l1 = 0, double l2 = 0) { return {l1, l2}; }  // as L1L2

}  // namespace regularizers

namespace nn_internal {
/// Returns the penalties of those weights of a layer that exist and have a regularizer.
std::vector<Tensor> penalties(const Regularizer& on_kernel, const Variable& kernel,
                              const Regularizer& on_bias, const Variable& bias);
}  // namespace nn_internal

/// A function that optimizers apply to a weight after each update. Your own layers can give any
/// function as VariableOptions::constraint.
/// Source  tf.keras.constraints.Constraint
struct Constraint {
  enum class Kind : uint8_t { None, MaxNorm, NonNeg, UnitNorm, MinMaxNorm };

  Kind kind = Kind::None;
  double min_value = 0, max_value = 1;  // limits of the lengths
  // of MinMaxNorm: the part of the way to the limit that a length goes
  double rate = 1;
  std::vector<int> axis = {0};  // axes over which squares are summed to a length

  explicit operator bool() const { return kind != Kind::None; }
  /// Returns the constrained value, of the same shape.
  Tensor operator()(const Tensor& weight) const;
};

/// Source  tf.keras.constraints
namespace constraints {

/// Limits lengths along `axis` to max_value.
Constraint max_norm(double max_value = 2, std::vector<int> axis = {0});
/// Replaces negative elements by 0.
Constraint non_neg();
/// Scales lengths along `axis` to 1.
Constraint unit_norm(std::vector<int> axis = {0});
/// Moves lengths along `axis` towards [min_value, max_value]; with rate 1 they lie within it.
Constraint min_max_norm(double min_value = 0, double max_value = 1, double rate = 1,
                        std::vector<int> axis = {0});

}  // namespace constraints

namespace nn_internal {
/// Returns the options of a weight with this constraint, or default options without a constraint.
VariableOptions constrained(const Constraint& constraint);
}  // namespace nn_internal

}  // namespace distribute::nn
