#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/detail/agreeing_reducer.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>

#include <string>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void AgreeingReducer::update(std::span<const VariableUpdate> updates,
                                               bool gradients_are_reduced,
                                               const UpdateKernel& kernel) {
  context_.check_current("update");
  context_.check_owner(updates);
  try {
    if (!state_.agreed) agree(updates);
    next_->update(updates, gradients_are_reduced, kernel);
  } catch (const Error& error) {
    const std::string notes = context_.local_replicas().notes(), text = error.what();
    if (notes.empty() || text.find(notes) != std::string::npos) throw;
    throw_error(error.code(), text + notes);
  }
}

/// Checks that every rank has the same variables in the same order.
DISTRIBUTE_INLINE void AgreeingReducer::agree(std::span<const VariableUpdate> updates) {
  std::string lines;
  for (const VariableUpdate& update : updates)
    lines += str_cat("variable '", update.variable.name(), "' ", name_of(update.variable.dtype()),
                     " ", to_string(update.variable.shape()), " with ", update.slots.size(),
                     " optimizer slots\n");
  lines += str_cat("bytes_per_pack ", state_.options.bytes_per_pack, "\n");
  check_agreement(state_.group_of(context_), "what they train", lines);
  context_.local_replicas().meet(context_.local_replica_id(), "agree",
                                 [&] { state_.agreed = true; });
}

}  // namespace distribute::strategy_internal
