#pragma once
/// The updates of one step: the variables that change, and their gradients.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>

#include <vector>

namespace distribute::optim::optim_internal {

/// Gives the gradients of updates by variable; the gradients of a cut variable's parts are joined.
std::vector<Tensor> gradients_of(const std::vector<VariableUpdate>& updates,
                                 const std::vector<Tensor>& given,
                                 const std::vector<Variable>& variables);

/// Replaces each updated variable that has a constraint by what the constraint gives, in every
/// copy. All replicas must call it together; the work is done once.
/// Throws  FailedPreconditionError while a step is being recorded.
void apply_constraints(const std::vector<VariableUpdate>& updates, ReplicaContext& replica);

/// Gives the gradients, with zeros for each gradient that only other replicas have. A gradient that
/// no replica has stays empty.
/// Blocks  until every replica has called it.
/// Source  find_unused_parameters of torch.nn.parallel.DistributedDataParallel
std::vector<Tensor> with_zeros_for_unused(std::vector<Tensor> gradients,
                                          const std::vector<Variable>& variables,
                                          ReplicaContext& replica);

}  // namespace distribute::optim::optim_internal
