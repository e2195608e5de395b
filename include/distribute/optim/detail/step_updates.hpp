#pragma once
/// The updates of one step: which variables change, and by which gradients.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>

#include <vector>

namespace distribute::optim::optim_internal {

/// The gradients of updates by variable; those of a cut one are put together.
std::vector<Tensor> gradients_of(const std::vector<VariableUpdate>& updates,
                                 const std::vector<Tensor>& given,
                                 const std::vector<Variable>& variables);

}  // namespace distribute::optim::optim_internal
