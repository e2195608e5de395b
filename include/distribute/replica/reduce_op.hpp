#pragma once
/// How values of several replicas become one.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <string_view>

namespace distribute {

/// How values of all replicas become one. Source  tf.distribute.ReduceOp
enum class ReduceOp { Sum, Mean };

/// Accepts "SUM" and "MEAN" in any case.
/// Throws  InvalidArgumentError for anything else.
ReduceOp reduce_op_from_string(std::string_view name);

/// Throws  InvalidArgumentError for None and OnlyFirstReplica.
ReduceOp reduce_op_from_aggregation(VariableAggregation aggregation);

}  // namespace distribute
