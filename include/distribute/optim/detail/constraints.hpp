#pragma once
/// Constraints of variables, after an optimizer has updated them.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>

#include <vector>

namespace distribute::optim::optim_internal {

/// Puts what a variable's constraint gives in its place, in every copy. Once for all replicas,
/// which must call it together.
/// Throws  FailedPreconditionError while a step is being recorded.
void apply_constraints(const std::vector<VariableUpdate>& updates, ReplicaContext& replica);

}  // namespace distribute::optim::optim_internal
