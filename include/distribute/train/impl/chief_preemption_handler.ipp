#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/train/detail/exit_preempted.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>

#include <utility>
#include <vector>

#include <signal.h>

namespace distribute::train {

DISTRIBUTE_INLINE ChiefPreemptionHandler::ChiefPreemptionHandler(CheckpointManager& manager,
                                                                 std::function<bool()> further)
    : manager_(&manager), notice_({SIGTERM}, std::move(further)) {}

DISTRIBUTE_INLINE ChiefPreemptionHandler::ChiefPreemptionHandler()
    : manager_(nullptr), notice_(std::vector<int>()) {}

DISTRIBUTE_INLINE void ChiefPreemptionHandler::save_checkpoint_if_preempted(int64_t step) {
  if (!was_preempted()) return;
  log_info("trainer", manager_ ? str_cat("preempted: saving a checkpoint after ", step, " steps")
                               : train_internal::text_of_leaving());
  if (manager_) manager_->save(step);
  train_internal::exit_preempted();
}

}  // namespace distribute::train
