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

/// Puts what a variable's constraint gives in its place, in every copy. Once for all replicas,
/// which must call it together.
/// Throws  FailedPreconditionError while a step is being recorded.
void apply_constraints(const std::vector<VariableUpdate>& updates, ReplicaContext& replica);

/// The gradients, with zeros for each that only other replicas have. One that no replica has
/// stays none.
/// Blocks  until every replica has called it.
/// Source  find_unused_parameters of torch.nn.parallel.DistributedDataParallel
std::vector<Tensor> with_zeros_for_unused(std::vector<Tensor> gradients,
                                          const std::vector<Variable>& variables,
                                          ReplicaContext& replica);

}  // namespace distribute::optim::optim_internal
