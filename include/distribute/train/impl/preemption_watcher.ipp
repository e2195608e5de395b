#pragma once
#include <distribute/base/signals.hpp>
#include <distribute/train/preemption_watcher.hpp>

#include <utility>

namespace distribute {

DISTRIBUTE_INLINE PreemptionWatcher::PreemptionWatcher(PreemptionWatcherOptions options)
    : options_(std::move(options)) {
  if (!options_.termination_watcher_fn)
    signal_ = std::make_unique<TerminationSignal>(options_.signals);
}

DISTRIBUTE_INLINE PreemptionWatcher::~PreemptionWatcher() = default;

DISTRIBUTE_INLINE std::optional<std::string> PreemptionWatcher::preemption_message() const {
  if (!has_come_) has_come_ = signal_ ? signal_->has_come() : options_.termination_watcher_fn();
  if (!has_come_) return std::nullopt;
  return signal_ ? "this process was sent a signal to end"
                 : "termination_watcher_fn says that this process has to go";
}

}  // namespace distribute
