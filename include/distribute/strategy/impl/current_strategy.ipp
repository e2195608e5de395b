#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/replica/detail/default_strategy.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>

#include <memory>
#include <optional>

namespace distribute {

namespace strategy_internal {

/// The strategy of experimental_set_strategy.
struct GlobalStrategy {
  std::optional<Scope> scope;
};

/// Lives as long as the process.
struct DefaultStrategy {
  DefaultStrategy() { replica_internal::default_strategy() = strategy; }
  const std::shared_ptr<Strategy> strategy = std::make_shared<Strategy>(make_default_extended());
};

DISTRIBUTE_INLINE Strategy& default_strategy() { return *in_process<DefaultStrategy>().strategy; }

DISTRIBUTE_INLINE bool is_default_strategy(const Strategy* strategy) {
  return !strategy || strategy == &default_strategy();
}

DISTRIBUTE_INLINE Strategy* current_strategy() {
  const auto& modes = replica_internal::mode_stack();
  if (modes.empty() || is_default_strategy(modes.back().strategy)) return nullptr;
  return modes.back().strategy;
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE Strategy& get_strategy() {
  Strategy* current = strategy_internal::current_strategy();
  return current ? *current : strategy_internal::default_strategy();
}

DISTRIBUTE_INLINE bool has_strategy() { return strategy_internal::current_strategy() != nullptr; }

DISTRIBUTE_INLINE void experimental_set_strategy(Strategy* strategy) {
  auto& global = in_process<strategy_internal::GlobalStrategy>().scope;
  const size_t depth = global ? 1 : 0;
  if (replica_internal::mode_stack().size() > depth)
    throw FailedPreconditionError(
        "experimental_set_strategy: Must not be called inside a `strategy.scope()`");
  global.reset();
  if (strategy) global.emplace(*strategy);
}

}  // namespace distribute
