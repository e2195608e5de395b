#pragma once
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE bool ProgressLogger::prints() const {
  return options_.verbose != Verbose::Silent && model().is_chief();
}

/// Only the line at the end of an epoch is printed with Verbose::Epochs.
DISTRIBUTE_INLINE void ProgressLogger::begin(int64_t first_batch) {
  ProgressOptions options{.first_step = first_batch,
                          .total_steps = params().steps ? params().steps : options_.batches,
                          .unit = "examples",
                          .prints = prints(),
                          .out = options_.out,
                          .terminal = options_.terminal,
                          .is_whole_run = false};
  if (options_.verbose == Verbose::Epochs) options.steps_per_line = 0, options.terminal = false;
  progress_ = std::make_shared<Progress>(std::move(options));
  batches_ = first_batch;
}

DISTRIBUTE_INLINE void ProgressLogger::on_epoch_begin(int64_t epoch, Logs&) {
  begin(0);
  if (!prints()) return;
  std::fprintf(options_.out, "Epoch %lld/%lld\n", (long long)epoch + 1, (long long)params().epochs);
  std::fflush(options_.out);
}

/// An epoch that a training goes on with begins at another batch than the first one.
DISTRIBUTE_INLINE void ProgressLogger::on_train_batch_begin(int64_t batch, Logs&) {
  if (batch > batches_) begin(batch);
}

/// The batches of an execution come together.
DISTRIBUTE_INLINE void ProgressLogger::on_train_batch_end(int64_t batch, Logs& logs) {
  progress_->set_batch_size(model().global_batch_size() * (batch + 1 - batches_));
  batches_ = batch + 1;
  progress_->step_done(batches_, logs);
}

DISTRIBUTE_INLINE void ProgressLogger::on_epoch_end(int64_t, Logs& logs) {
  options_.batches = batches_;
  progress_->finish(batches_, logs);
}

}  // namespace distribute::train
