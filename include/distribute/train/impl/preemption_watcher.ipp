#pragma once
#include <distribute/base/leave_notice.hpp>
#include <distribute/train/preemption_watcher.hpp>

namespace distribute {

DISTRIBUTE_INLINE PreemptionWatcher::PreemptionWatcher(PreemptionWatcherOptions options)
    : notice_(
          options.termination_watcher_fn
              ? std::make_unique<LeaveNotice>(std::vector<int>{}, options.termination_watcher_fn)
              : std::make_unique<LeaveNotice>(options.signals)) {}

DISTRIBUTE_INLINE PreemptionWatcher::~PreemptionWatcher() = default;

DISTRIBUTE_INLINE std::optional<std::string> PreemptionWatcher::preemption_message() const {
  return notice_->message();
}

}  // namespace distribute
