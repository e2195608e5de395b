#include "one_process.hpp"

#include <distribute/platforms.hpp>

#include <csignal>

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
  iterator_.emplace(t.strategy.experimental_distribute_dataset(t.task.training).iterator());
  saving_.emplace(
      t, dist::train::CheckpointParts{{"model", &t.model},
                                      {"optimizer", &t.saved_optimizer()},
                                      {"iterator", position_in_data(t.options, *iterator_)}});
  t.build_model();
  if (!t.options.init_checkpoint.empty())
    dist::train::load_weights(t.options.init_checkpoint, t.model.variables());
  saving_->open();
  if (auto* manager = saving_->manager()) {
    dist::TerminationConfig config;
    if ((notice_ = preemption_notice(t.options))) {
      signal_ = std::make_unique<dist::TerminationSignal>(std::vector{SIGTERM});
      config.termination_watcher_fn = [this] { return signal_->has_come() || notice_->has_come(); };
    }
    // It restores the newest checkpoint.
    preemption_.emplace(t.strategy.cluster_resolver(), *manager, std::move(config));
  }
  if (is_chief()) saving_->tell_restored();
  if (is_chief()) t.outputs.open();
}

void OneProcess::before_step() {
  if (preemption_) preemption_->save_checkpoint_if_preempted();
}

}  // namespace examples
