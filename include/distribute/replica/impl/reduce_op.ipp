#pragma once
#include <distribute/replica/values.hpp>

#include <cctype>
#include <string>

namespace distribute {

DISTRIBUTE_INLINE ReduceOp reduce_op_from_string(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = char(std::toupper(static_cast<unsigned char>(c)));
  if (upper == "SUM") return ReduceOp::Sum;
  if (upper == "MEAN") return ReduceOp::Mean;
  throw InvalidArgumentError(str_cat("ReduceOp must be SUM or MEAN, got \"", name, "\""));
}

DISTRIBUTE_INLINE ReduceOp reduce_op_from_aggregation(VariableAggregation aggregation) {
  if (aggregation == VariableAggregation::Sum) return ReduceOp::Sum;
  if (aggregation == VariableAggregation::Mean) return ReduceOp::Mean;
  const bool none = aggregation == VariableAggregation::None;
  throw InvalidArgumentError(str_cat("Could not convert from `VariableAggregation` ",
                                     none ? "NONE" : "ONLY_FIRST_REPLICA",
                                     " to `ReduceOp` type: only SUM and MEAN have one"));
}

}  // namespace distribute
