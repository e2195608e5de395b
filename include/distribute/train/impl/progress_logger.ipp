#pragma once
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

#include <chrono>

namespace distribute::train {

DISTRIBUTE_INLINE bool ProgressLogger::prints() const {
  return options_.verbose != Verbose::Silent && model().is_chief();
}

DISTRIBUTE_INLINE void ProgressLogger::on_epoch_begin(int64_t epoch, Logs&) {
  using namespace std::chrono;
  began_ = duration<double>(steady_clock::now().time_since_epoch()).count();
  progress_.reset();
  batches_ = 0;
  if (!prints()) return;
  std::fprintf(options_.out, "Epoch %lld/%lld\n", (long long)epoch + 1, (long long)params().epochs);
  std::fflush(options_.out);
}

DISTRIBUTE_INLINE void ProgressLogger::on_train_batch_begin(int64_t batch, Logs&) {
  if (progress_ || !prints() || options_.verbose == Verbose::Epochs) return;
  progress_ = std::make_shared<Progress>(
      ProgressOptions{.first_step = batch,
                      .total_steps = params().steps ? params().steps : options_.batches,
                      .unit = "examples",
                      .out = options_.out,
                      .terminal = options_.terminal});
}

DISTRIBUTE_INLINE void ProgressLogger::on_train_batch_end(int64_t batch, Logs& logs) {
  batches_ = batch + 1;
  if (!progress_) return;
  progress_->set_batch_size(model().global_batch_size());
  progress_->step_done(batches_, logs);
}

DISTRIBUTE_INLINE void ProgressLogger::on_epoch_end(int64_t, Logs& logs) {
  options_.batches = batches_;
  if (progress_) progress_->finish();
  progress_.reset();
  if (!prints()) return;
  using namespace std::chrono;
  const double now = duration<double>(steady_clock::now().time_since_epoch()).count();
  std::fprintf(options_.out, "%lld steps  %s%s\n", (long long)batches_,
               clock_text(now - began_).c_str(), figures_text(logs).c_str());
  std::fflush(options_.out);
}

}  // namespace distribute::train
