#pragma once
/// The current strategy, and texts that a chief publishes for the other tasks of its job.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace distribute {

class Strategy;

/// Returns the innermost strategy in scope, or the default one.
/// Source  tf.distribute.get_strategy
Strategy& get_strategy();

/// Whether the current strategy is not the default one.
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
