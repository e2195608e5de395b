#pragma once
/// The scope of a model's strategy around what the model does.

#include <distribute/base/config.hpp>
#include <distribute/strategy/scope.hpp>

#include <optional>

namespace distribute::train_internal {

/// Nothing where the strategy is current already.
class [[nodiscard]] ModelScope {
 public:
  explicit ModelScope(Strategy& strategy) {
    if (&get_strategy() != &strategy) scope_.emplace(strategy);
  }

 private:
  std::optional<Scope> scope_;
};

}  // namespace distribute::train_internal
