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

void check_same_data(const Training& training, const std::string& who, const dist::Tensor& all) {
  const auto counts = all.data<int64_t>();
  for (size_t r = 1; r < counts.size(); ++r)
    if (counts[r] != counts[0])
      throw dist::InvalidArgumentError(dist::str_cat(
          "--data_dir: ", who, " ", r, " has ", counts[r], " training ", training.task.examples,
          ", ", who, " 0 has ", counts[0], "; all workers need the same data"));
}

void check_same_data(Training& training) {
  if (training.strategy.extended().input_context().num_input_pipelines() == 1) return;
  const auto mine = training.strategy.run([count = training.task.training_examples] {
    return dist::Tensor(dist::Shape{1}, std::vector<int64_t>{count});
  });
  check_same_data(training, "replica", training.strategy.gather(mine, 0));
}

void MultiWorker::begin() {
  check_same_data(training_);
  OneProcess::begin();
}

void OneProcess::before_step() {
  if (preemption_) preemption_->save_checkpoint_if_preempted();
}

}  // namespace examples
