#include "one_process.hpp"

#include <distribute/platforms.hpp>

namespace dist = distribute;

namespace examples {

OneProcess::OneProcess(Training& training) : Way(training) {}
OneProcess::~OneProcess() = default;

std::unique_ptr<dist::train::PreemptionNotice> preemption_notice(const TrainerOptions& o) {
  if (o.preemption_notice.empty()) return nullptr;
  return std::make_unique<dist::train::PreemptionNotice>(
      dist::train::PreemptionNoticeOptions{.platform = o.preemption_notice});
}

void OneProcess::begin() {
  iterator_.emplace(
      training_.strategy.experimental_distribute_dataset(training_.task.training).iterator());
  // Workers share the test, too: different data ends them now, not after the training.
  training_.strategy.experimental_distribute_dataset(training_.task.test);
  saving_.emplace(training_, position_in_data(training_.options, *iterator_));
  saving_->start();
  if (auto* manager = saving_->manager()) {
    notice_ = preemption_notice(training_.options);
    preemption_.emplace(training_.strategy.cluster_resolver(),
                        *manager);  // restores the newest checkpoint
  }
  if (is_chief()) saving_->tell_restored();
  if (is_chief()) training_.outputs.open(training_.optimizer->iterations());
}

void OneProcess::before_step() {
  if (preemption_) preemption_->save_checkpoint_if_preempted();
}

}  // namespace examples
