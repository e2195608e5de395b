#pragma once
/// The current strategy, how one becomes it for a part of the program, and the texts that its chief
/// publishes for the other tasks.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace distribute {

class Strategy;

/// Returns the innermost strategy in scope, or the default one.
/// Source  tf.distribute.get_strategy
Strategy& get_strategy();

/// Returns whether the current strategy is another one than the default.
/// Source  tf.distribute.has_strategy
bool has_strategy();

/// Makes `strategy` current on the calling thread without a scope; null undoes that.
/// Throws  FailedPreconditionError inside a scope.
/// Source  tf.distribute.experimental_set_strategy
void experimental_set_strategy(Strategy* strategy);

}  // namespace distribute

namespace distribute::strategy_internal {

/// Texts that the chief of a job with parameter servers publishes for its other tasks, by key, such
/// as learned vocabularies. Thread-safe.
class ChiefTexts {
 public:
  virtual ~ChiefTexts() = default;
  virtual bool is_chief() const = 0;
  /// Returns 0, 1, ... at successive calls. All tasks get the same numbers, as they run the same
  /// program.
  virtual int64_t next_number() = 0;
  /// Publishes a text; only the chief calls it.
  /// Throws  FailedPreconditionError for another text of the same key, as other tasks may have read
  ///          the first; UnavailableError for a lost server.
  virtual void give(const std::string& key, const std::string& text) = 0;
  /// Reads a text; the workers other than the chief call it. `what` tells in errors what the chief
  /// has to do.
  /// Blocks  until the chief has published it, at most for the startup timeout.
  /// Throws  DeadlineExceededError that names the chief; UnavailableError for a lost server.
  virtual std::string take(const std::string& key, const std::string& what) = 0;
};

/// Implementation of a strategy whose chief publishes texts.
class HasChiefTexts {
 public:
  virtual ~HasChiefTexts() = default;
  /// Returns null without a cluster, and on a parameter server.
  virtual std::shared_ptr<ChiefTexts> chief_texts() const = 0;
};

/// Returns the texts of the current strategy's chief; null if the strategy has no job.
std::shared_ptr<ChiefTexts> current_chief_texts();

}  // namespace distribute::strategy_internal

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
/// Returns whether this is the default strategy, for which null stands too.
bool is_default_strategy(const Strategy* strategy);

/// Returns the variable creator that a scope of the strategy installs.
VariableCreator creator_of(Strategy& strategy);

/// Throws  FailedPreconditionError inside a replica of any but the default strategy.
void check_cross_replica(const char* method);

}  // namespace strategy_internal

}  // namespace distribute
