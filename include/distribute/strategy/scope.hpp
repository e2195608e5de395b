#pragma once
/// Makes a strategy current for a part of the program.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/strategy/current_strategy.hpp>

#include <cstddef>
#include <optional>

namespace distribute {

class Strategy;

/// Makes a strategy current, in cross-replica context, and lets it create the variables, on one
/// thread, from construction to exit() or destruction. Scopes end in the reverse order of their
/// beginning. The default strategy's scope changes nothing: inside it the thread stays the default
/// strategy's one replica.
/// Source  tf.distribute.Strategy.scope
class [[nodiscard]] Scope {
 public:
  /// Throws  FailedPreconditionError inside another strategy, or in a replica.
  explicit Scope(Strategy& strategy);
  ~Scope();
  /// Moves the scope to the new object; the old one is as after exit().
  Scope(Scope&& other) noexcept;
  Scope& operator=(Scope&&) = delete;

  /// Ends the scope before the object is destroyed.
  /// Throws  FailedPreconditionError when an inner scope is still open.
  void exit();

 private:
  const char* nesting_error() const;

  size_t modes_, creators_;  // sizes of the thread's stacks inside the scope
  bool has_creator_, open_ = true;
};

/// A Scope, or nothing if `strategy` is current already.
class [[nodiscard]] ScopeUnlessCurrent {
 public:
  /// Throws  as Scope.
  explicit ScopeUnlessCurrent(Strategy& strategy);

 private:
  std::optional<Scope> scope_;
};

namespace strategy_internal {

/// Returns the current strategy of the thread; null for the default one.
Strategy* current_strategy();
/// Whether this is the default strategy, for which null stands too.
bool is_default_strategy(const Strategy* strategy);

/// Returns the variable creator that a scope of the strategy installs.
VariableCreator creator_of(Strategy& strategy);

/// Throws  FailedPreconditionError inside a replica of any but the default strategy.
void check_cross_replica(const char* method);

}  // namespace strategy_internal

}  // namespace distribute
