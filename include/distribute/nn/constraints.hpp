#pragma once
/// Constraints on weights, which optimizers keep.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <vector>

namespace distribute::nn {

/// What optimizers put in the place of a weight after each update. Own layers can give any function
/// as VariableOptions::constraint.
/// Source  tf.keras.constraints.Constraint
struct Constraint {
  enum class Kind : uint8_t { None, MaxNorm, NonNeg, UnitNorm, MinMaxNorm };

  Kind kind = Kind::None;
  double min_value = 0, max_value = 1;  // of lengths
  double rate = 1;                      // of MinMaxNorm: how far a length goes to its limit
  std::vector<int> axis = {0};          // of the elements whose squares make a length

  explicit operator bool() const { return kind != Kind::None; }
  /// The value that fits, of the same shape.
  Tensor operator()(const Tensor& weight) const;
};

/// Source  tf.keras.constraints
namespace constraints {

/// Lengths along `axis` are at most max_value.
Constraint max_norm(double max_value = 2, std::vector<int> axis = {0});
/// Negative elements become 0.
Constraint non_neg();
/// Lengths along `axis` are 1.
Constraint unit_norm(std::vector<int> axis = {0});
/// Lengths along `axis` come nearer to [min_value, max_value]: with rate 1 they lie in it.
Constraint min_max_norm(double min_value = 0, double max_value = 1, double rate = 1,
                        std::vector<int> axis = {0});

}  // namespace constraints

namespace nn_internal {
/// Options of a weight that has the constraint, if it is one.
VariableOptions constrained(const Constraint& constraint);
}  // namespace nn_internal

}  // namespace distribute::nn
