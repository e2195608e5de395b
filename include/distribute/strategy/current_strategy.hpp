#pragma once
/// The strategy that is current, and the texts that its chief leaves for other tasks.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace distribute {

class Strategy;

/// The innermost strategy in scope, or the default one.
/// Source  tf.distribute.get_strategy
Strategy& get_strategy();

/// True when the current strategy is not the default one.
/// Source  tf.distribute.has_strategy
bool has_strategy();

/// Makes `strategy` current on the calling thread without a scope; null undoes that.
/// Throws  FailedPreconditionError inside a scope.
/// Source  tf.distribute.experimental_set_strategy
void experimental_set_strategy(Strategy* strategy);

}  // namespace distribute

namespace distribute::strategy_internal {

/// What the chief of a job with parameter servers leaves for its other tasks, by key, such as the
/// vocabularies that it has learned. Thread-safe.
class ChiefTexts {
 public:
  virtual ~ChiefTexts() = default;
  virtual bool is_chief() const = 0;
  /// A number of its own for each caller. All tasks get the same ones, as they run the same
  /// program.
  virtual int64_t next_number() = 0;
  /// The chief calls it.
  /// Throws  FailedPreconditionError for another text of the same key, as others may have taken the
  ///         first; UnavailableError for a lost server.
  virtual void give(const std::string& key, const std::string& text) = 0;
  /// Workers other than the chief call it. `what` says in errors what the chief is to do.
  /// Blocks  until the chief has given it, at most the startup timeout.
  /// Throws  DeadlineExceededError that names the chief; UnavailableError for a lost server.
  virtual std::string take(const std::string& key, const std::string& what) = 0;
};

/// A strategy's work that has them.
class HasChiefTexts {
 public:
  virtual ~HasChiefTexts() = default;
  /// It is null without a cluster, and on a parameter server.
  virtual std::shared_ptr<ChiefTexts> chief_texts() const = 0;
};

/// The texts of the current strategy's chief; null where it has no job.
std::shared_ptr<ChiefTexts> current_chief_texts();

}  // namespace distribute::strategy_internal
