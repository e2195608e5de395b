#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/train/run_report.hpp>

#include <algorithm>
#include <cmath>

namespace distribute::train {

DISTRIBUTE_INLINE std::string first_not_finite(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    const auto values = value_to_save(variable).to_vector();
    if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }))
      return variable.name();
  }
  return "";
}

DISTRIBUTE_INLINE void check_finite_loss(const char* what, double loss, int64_t step,
                                         const std::vector<Variable>& variables) {
  if (std::isfinite(loss)) return;
  const std::string name = first_not_finite(variables);
  const std::string culprit = name.empty()
                                  ? "all variables are finite, so the forward pass overflowed"
                                  : "the first variable with such values is '" + name + "'";
  throw FailedPreconditionError(
      str_cat("the ", what, " became ", std::isnan(loss) ? "nan" : "infinite", " at step ", step,
              "; ", culprit, "; try a smaller --learning_rate or --clip_norm"));
}

DISTRIBUTE_INLINE void check_worth_saving(const std::vector<Variable>& variables, int64_t step) {
  const std::string name = first_not_finite(variables);
  if (name.empty()) return;
  throw FailedPreconditionError(
      str_cat("variable '", name, "' became nan or infinite at step ", step,
              "; nothing was saved; try a smaller --learning_rate or --clip_norm"));
}

}  // namespace distribute::train
