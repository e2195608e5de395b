#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/replica/detail/default_strategy.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>

#include <memory>
#include <optional>
#include <utility>

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

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE std::shared_ptr<ChiefTexts> current_chief_texts() {
  const auto* job = dynamic_cast<const HasChiefTexts*>(&get_strategy().extended());
  return job ? job->chief_texts() : nullptr;
}

}  // namespace distribute::strategy_internal

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE void check_cross_replica(const char* method) {
  if (!get_replica_context() || !has_strategy()) return;
  throw FailedPreconditionError(str_cat(method,
                                        ": Method requires being in cross-replica context, use "
                                        "get_replica_context()->merge_call()"));
}

DISTRIBUTE_INLINE void check_may_enter(Strategy& strategy) {
  const Strategy* current = current_strategy();
  if (!current) return;
  if (is_default_strategy(&strategy))
    throw FailedPreconditionError(
        "Must not nest tf.distribute.Strategy scopes: the default "
        "strategy's inside another");
  if (current != &strategy)
    throw FailedPreconditionError(
        "Mixing different tf.distribute.Strategy objects: another strategy's scope is open");
  check_cross_replica("scope");
}

DISTRIBUTE_INLINE VariableCreator creator_of(Strategy& strategy) {
  return [&strategy](const auto& next, const Variable::Initializer& initial_value,
                     const VariableOptions& options) {
    return strategy.extended().create_variable(next, initial_value, options);
  };
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE Scope::Scope(Strategy& strategy) {
  strategy_internal::check_may_enter(strategy);
  auto& modes = replica_internal::mode_stack();
  auto& creators = variable_creator_stack();
  has_creator_ = !strategy_internal::current_strategy();  // an outer scope's creator stands
  ReplicaContext* const stays =
      strategy_internal::is_default_strategy(&strategy) ? get_replica_context() : nullptr;
  modes.push_back({stays, &strategy, -1, &strategy.extended()});
  if (has_creator_) creators.push_back(strategy_internal::creator_of(strategy));
  modes_ = modes.size();
  creators_ = creators.size();
}

DISTRIBUTE_INLINE Scope::Scope(Scope&& other) noexcept
    : modes_(other.modes_),
      creators_(other.creators_),
      has_creator_(other.has_creator_),
      open_(std::exchange(other.open_, false)) {}

DISTRIBUTE_INLINE const char* Scope::nesting_error() const {
  if (replica_internal::mode_stack().size() != modes_)
    return "device or strategy scope nesting error: a scope ends before one that began inside it";
  if (variable_creator_stack().size() != creators_)
    return "variable creator scope nesting error: a strategy's scope ends before a variable "
           "creator scope that began inside it";
  return nullptr;
}

DISTRIBUTE_INLINE void Scope::exit() {
  if (!open_) return;
  if (const char* error = nesting_error()) throw FailedPreconditionError(error);
  open_ = false;
  replica_internal::mode_stack().pop_back();
  if (has_creator_) variable_creator_stack().pop_back();
}

DISTRIBUTE_INLINE ScopeUnlessCurrent::ScopeUnlessCurrent(Strategy& strategy) {
  if (&get_strategy() != &strategy) scope_.emplace(strategy);
}

DISTRIBUTE_INLINE Scope::~Scope() {
  if (!open_) return;
  if (const char* error = nesting_error()) {
    log_error("strategy", error);
    return;
  }
  exit();
}

}  // namespace distribute
