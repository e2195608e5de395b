#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/ops/detail/draw_log.hpp>

namespace distribute::ops_internal {

DISTRIBUTE_INLINE DrawLog*& innermost_draw_log() {
  return base_internal::in_thread_context<base_internal::ContextPlace{4, 1}, DrawLog*>();
}

DISTRIBUTE_INLINE DrawLog::DrawLog(Mode mode, std::vector<uint64_t>& counters)
    : mode_(mode), counters_(counters), outer_(innermost_draw_log()) {
  innermost_draw_log() = this;
}
DISTRIBUTE_INLINE DrawLog::~DrawLog() { innermost_draw_log() = outer_; }

DISTRIBUTE_INLINE uint64_t DrawLog::draw(const std::function<uint64_t()>& counter) {
  if (mode_ == Mode::Read) {
    if (read_ == counters_.size())
      throw FailedPreconditionError("recompute_grad: the function draws more the second time");
    return counters_[read_++];
  }
  counters_.push_back(outer_ ? outer_->draw(counter) : counter());
  return counters_.back();
}

DISTRIBUTE_INLINE uint64_t DrawLog::next(const std::function<uint64_t()>& counter) {
  DrawLog* log = innermost_draw_log();
  return log ? log->draw(counter) : counter();
}

}  // namespace distribute::ops_internal
