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
  iterator_.emplace(t.strategy.experimental_distribute_dataset(t.task.training).iterator());
  saving_.emplace(t, position_in_data(t.options, *iterator_));
  saving_->start();
  if (auto* manager = saving_->manager()) {
    notice_ = preemption_notice(t.options);
    preemption_.emplace(t.strategy.cluster_resolver(), *manager);  // restores the newest checkpoint
  }
  if (is_chief()) saving_->tell_restored();
  if (is_chief()) t.outputs.open();
}

void check_same_data(const Training& t, const std::string& who, const dist::Tensor& all) {
  const auto counts = all.data<int64_t>();
  for (size_t r = 1; r < counts.size(); ++r)
    if (counts[r] != counts[0])
      throw dist::InvalidArgumentError(dist::str_cat(
          "--data_dir: ", who, " ", r, " has ", counts[r], " training ", t.task.examples, ", ", who,
          " 0 has ", counts[0], "; all workers need the same data"));
}

void check_same_data(Training& t) {
  if (t.strategy.extended().input_context().num_input_pipelines() == 1) return;
  const auto mine = t.strategy.run([count = t.task.training_examples] {
    return dist::Tensor(dist::Shape{1}, std::vector<int64_t>{count});
  });
  check_same_data(t, "replica", t.strategy.gather(mine, 0));
}

void MultiWorker::begin() {
  check_same_data(t);
  OneProcess::begin();
}

void OneProcess::before_step() {
  if (preemption_) preemption_->save_checkpoint_if_preempted();
}

}  // namespace examples
