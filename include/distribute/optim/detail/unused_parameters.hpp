#pragma once
/// Gradients that one replica lacks and another has, as when each takes another branch.

#include <distribute/base/config.hpp>
#include <distribute/replica/replica_context.hpp>

#include <vector>

namespace distribute::optim::optim_internal {

/// The gradients, with zeros for each that only other replicas have. One that no replica has
/// stays none.
/// Blocks  until every replica has called it.
/// Source  find_unused_parameters of torch.nn.parallel.DistributedDataParallel
std::vector<Tensor> with_zeros_for_unused(std::vector<Tensor> gradients,
                                          const std::vector<Variable>& variables,
                                          ReplicaContext& replica);

}  // namespace distribute::optim::optim_internal
