#pragma once
/// Constraints on weights, applied by optimizers.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <vector>

namespace distribute::nn {

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
