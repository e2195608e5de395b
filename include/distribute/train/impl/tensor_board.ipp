#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/train/detail/callback_state.hpp>
#include <distribute/train/detail/module_graph.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/tensor_board.hpp>

#include <string_view>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE TensorBoard::TensorBoard(TensorBoardOptions options)
    : options_(std::move(options)) {
  if (options_.log_dir.empty()) throw InvalidArgumentError("TensorBoard: log_dir is empty");
  if (options_.histogram_freq < 0)
    throw InvalidArgumentError(str_cat("TensorBoard: histogram_freq must not be negative; it is ",
                                       options_.histogram_freq));
}

DISTRIBUTE_INLINE const summary::FileWriter& TensorBoard::writer(const char* run) {
  auto& writer = run == std::string_view("train") ? train_ : validation_;
  if (!writer) writer = summary::create_file_writer(io::join_path(options_.log_dir, run));
  return *writer;
}

DISTRIBUTE_INLINE void TensorBoard::scalar(const char* run, const std::string& tag, double value,
                                           int64_t step) {
  writer(run).write(
      step, {.tag = tag, .plugin = "scalars", .tensor = summary::encode_tensor(float(value))});
}

DISTRIBUTE_INLINE void TensorBoard::on_train_begin(Logs&) {
  step_ = model().optimizer().iterations();  // goes on in a second fit
  if (!model().is_chief() || !options_.write_graph) return;
  writer("train").write_graph(0, summary::encode_graph(module_graph(model().module())));
}

DISTRIBUTE_INLINE CheckpointParts TensorBoard::state() {
  return {{"tensor_board", train_internal::numbers_state({&step_})}};
}

DISTRIBUTE_INLINE void TensorBoard::on_epoch_begin(int64_t, Logs&) {
  epoch_steps_ = 0;
  epoch_began_ = batch_ended_ = base_internal::steady_seconds();
}

DISTRIBUTE_INLINE void TensorBoard::on_train_batch_end(int64_t, Logs& logs) {
  ++step_;
  ++epoch_steps_;
  if (!model().is_chief()) return;
  const double now = base_internal::steady_seconds();
  const double seconds = now - std::exchange(batch_ended_, now);
  const int64_t every = options_.update_freq.batches();
  if (!every || step_ % every != 0) return;
  if (options_.write_steps_per_second && seconds > 0)
    scalar("train", "batch_steps_per_second", 1 / seconds, step_);
  for (const auto& [name, value] : logs) scalar("train", "batch_" + name, value, step_);
}

DISTRIBUTE_INLINE void TensorBoard::on_test_end(Logs& logs) {
  if (!model().is_chief()) return;
  const int64_t iterations = model().optimizer().iterations();
  for (const auto& [name, value] : logs)
    scalar("validation", "evaluation_" + name + "_vs_iterations", value, iterations);
  writer("validation").start_flush();
}

/// Every worker calls it, as reading a weight may be an operation between workers.
DISTRIBUTE_INLINE void TensorBoard::histograms(int64_t epoch) {
  for (const Variable& variable : model().module().variables()) {
    const Tensor value = value_to_save(variable);
    if (!model().is_chief()) continue;
    const auto scope = writer("train").as_default();
    summary::histogram(variable.name() + "/histogram", value, epoch);
  }
}

DISTRIBUTE_INLINE void TensorBoard::on_epoch_end(int64_t epoch, Logs& logs) {
  if (options_.histogram_freq && epoch % options_.histogram_freq == 0) histograms(epoch);
  if (!model().is_chief()) return;
  for (const auto& [name, value] : logs) {
    const bool validation = name.starts_with("val_");
    scalar(validation ? "validation" : "train", "epoch_" + name.substr(validation ? 4 : 0), value,
           epoch);
  }
  if (!logs.find("learning_rate"))
    scalar("train", "epoch_learning_rate", double(model().optimizer().learning_rate()), epoch);
  if (options_.input_statistics)
    for (const auto& [name, value] : options_.input_statistics->scalars())
      scalar("train", name, value, epoch);
  const double seconds = base_internal::steady_seconds() - epoch_began_;
  if (options_.write_steps_per_second && seconds > 0)
    scalar("train", "epoch_steps_per_second", double(epoch_steps_) / seconds, epoch);
  train_->start_flush();
  if (validation_) validation_->start_flush();
}

DISTRIBUTE_INLINE void TensorBoard::on_train_end(Logs&) {
  if (train_) train_->close();
  if (validation_) validation_->close();
  train_.reset();
  validation_.reset();
}

}  // namespace distribute::train
