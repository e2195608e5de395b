#pragma once
#include <distribute/autograd/detail/recorded_step.hpp>
#include <distribute/base/error.hpp>
#include <distribute/optim/detail/constraints.hpp>

#include <algorithm>

namespace distribute::optim::optim_internal {

DISTRIBUTE_INLINE void constrain(const Variable& variable) {
  if (!variable.constraint()) return;
  VariableImpl& impl = variable.impl();
  for (int i = 0; i < impl.num_components(); ++i) {
    const Tensor value = variable.constraint()(impl.component(i));
    if (!value || value.shape() != impl.shape() || value.dtype() != impl.dtype())
      throw InvalidArgumentError(str_cat("the constraint of variable '", variable.name(), "' ",
                                         to_string(impl.shape()), " ", name_of(impl.dtype()),
                                         " gave another shape or type"));
    impl.set_component(i, value.renamed());
  }
}

DISTRIBUTE_INLINE void apply_constraints(const std::vector<VariableUpdate>& updates,
                                         ReplicaContext& replica) {
  const auto found = std::find_if(updates.begin(), updates.end(), [](const VariableUpdate& update) {
    return bool(update.variable.constraint());
  });
  if (found == updates.end()) return;
  if (RecordedStep::current())
    throw FailedPreconditionError(str_cat("variable '", found->variable.name(),
                                          "' has a constraint, which cannot be recorded"));
  replica.merge(
      [&](std::span<void* const>) {
        for (const VariableUpdate& update : updates) constrain(update.variable);
      },
      nullptr);
}

}  // namespace distribute::optim::optim_internal
