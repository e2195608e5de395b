#pragma once
#include <distribute/strategy/scope.hpp>
#include <distribute/strategy/strategy.hpp>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE std::shared_ptr<ChiefTexts> current_chief_texts() {
  const auto* job = dynamic_cast<const HasChiefTexts*>(&get_strategy().extended());
  return job ? job->chief_texts() : nullptr;
}

}  // namespace distribute::strategy_internal
