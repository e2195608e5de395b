#pragma once
/// The strategy that is in force where no other strategy is in scope.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <memory>

namespace distribute {

class Strategy;

namespace replica_internal {

struct DefaultStrategy {
  std::shared_ptr<Strategy> made;  // made by the first call of get_strategy() (strategy/scope)
};

inline std::shared_ptr<Strategy>& default_strategy() { return in_process<DefaultStrategy>().made; }

}  // namespace replica_internal

}  // namespace distribute
