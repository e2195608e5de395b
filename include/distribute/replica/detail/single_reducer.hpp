#pragma once
/// The reducer of a single replica, which sums nothing.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/gradient_reducer.hpp>

namespace distribute::replica_internal {

/// Applies each gradient where its variable is. On the CPU the elements are dealt to the threads of
/// the pool; on a GPU one kernel updates many variables.
class SingleReducer final : public GradientReducer {
 public:
  void update(std::span<const VariableUpdate> updates, bool, const UpdateKernel& kernel) override {
    update_component(updates, 0, kernel);
  }
};

}  // namespace distribute::replica_internal
