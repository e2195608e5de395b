#pragma once
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/learned.hpp>
#include <distribute/strategy/scope.hpp>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE TableOfJob::TableOfJob(const std::string& kind)
    : kind_(kind), texts_(strategy_internal::current_chief_texts()) {
  if (texts_) key_ = str_cat("table ", texts_->next_number(), ", a ", kind);
}

DISTRIBUTE_INLINE bool TableOfJob::takes() const { return texts_ && !texts_->is_chief(); }

DISTRIBUTE_INLINE void TableOfJob::give(const std::string& bytes) const {
  if (!texts_ || !texts_->is_chief()) return;
  try {
    texts_->give(key_, bytes);
  } catch (const FailedPreconditionError&) {
    throw FailedPreconditionError(
        kind_ +
        ": has learned something else before, which workers may use already; make another one");
  }
}

DISTRIBUTE_INLINE std::string TableOfJob::take() const {
  return texts_->take(key_, "adapt its " + kind_);
}

}  // namespace distribute::preprocessing::preprocessing_internal
