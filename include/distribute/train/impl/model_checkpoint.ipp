#pragma once
#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/train/detail/callback_state.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/model_checkpoint.hpp>
#include <distribute/train/run_report.hpp>

#include <cstdio>
#include <utility>

namespace distribute::train {

DISTRIBUTE_INLINE ModelCheckpoint::ModelCheckpoint(ModelCheckpointOptions options)
    : options_(std::move(options)),
      monitor_("ModelCheckpoint", options_.monitor, options_.mode),
      best_(options_.initial_value_threshold) {
  if (options_.filepath.empty()) throw InvalidArgumentError("ModelCheckpoint: empty filepath");
  if (options_.save_freq.never())
    throw InvalidArgumentError("Unrecognized save_freq: expected \"epoch\" or a number of batches");
}

DISTRIBUTE_INLINE void ModelCheckpoint::on_train_begin(Logs&) {
  // What stands before the first number of epoch or figure is known now.
  const std::string directory =
      io::directory_of(options_.filepath.substr(0, options_.filepath.find('{')));
  check_output_paths({{"ModelCheckpoint", directory, OutputKind::Directory}});
  CheckpointParts parts = model().checkpoint_parts();
  if (options_.save_weights_only) parts.resize(1);
  checkpoint_ = std::make_shared<Checkpoint>(std::move(parts));
  last_batch_ = batches_since_save_ = 0;
  monitor_.begin(model());
}

DISTRIBUTE_INLINE CheckpointParts ModelCheckpoint::state() {
  return {{"model_checkpoint",
           train_internal::numbers_state({&best_, &last_batch_, &batches_since_save_})}};
}

DISTRIBUTE_INLINE void ModelCheckpoint::on_epoch_begin(int64_t epoch, Logs&) { epoch_ = epoch; }

/// Counts batches over epochs.
DISTRIBUTE_INLINE bool ModelCheckpoint::is_due(int64_t batch) {
  batches_since_save_ += batch <= last_batch_ ? batch + 1 : batch - last_batch_;
  last_batch_ = batch;
  if (batches_since_save_ < options_.save_freq.batches()) return false;
  batches_since_save_ = 0;
  return true;
}

DISTRIBUTE_INLINE void ModelCheckpoint::on_train_batch_end(int64_t batch, Logs& logs) {
  if (options_.save_freq.batches() && is_due(batch)) save(batch, logs);
}

DISTRIBUTE_INLINE void ModelCheckpoint::on_epoch_end(int64_t epoch, Logs& logs) {
  epoch_ = epoch;
  if (options_.save_freq.every_epoch()) save({}, logs);
}

DISTRIBUTE_INLINE void ModelCheckpoint::save(std::optional<int64_t> batch, const Logs& logs) {
  Logs figures{{"epoch", double(epoch_ + 1)}};
  if (batch) figures.set("batch", double(*batch + 1));
  for (const auto& [name, value] : logs) figures.set(name, value);
  const std::string path = format_figures(options_.filepath, figures);
  if (should_save(path, logs)) write(path);
}

/// Whether to save; as in Keras, a model whose monitored value is missing is saved.
DISTRIBUTE_INLINE bool ModelCheckpoint::should_save(const std::string& path, const Logs& logs) {
  const bool prints = options_.verbose && model().is_chief();
  const auto current = options_.save_best_only ? monitor_.value(logs) : std::nullopt;
  if (!current) {
    if (prints)
      std::printf("Epoch %lld: saving model to %s\n", (long long)epoch_ + 1, path.c_str());
    return true;
  }
  const bool better = monitor_.improves(*current, best_);
  if (prints)
    std::printf("Epoch %lld: %s %s from %s%s\n", (long long)epoch_ + 1, options_.monitor.c_str(),
                better ? "improved" : "did not improve",
                best_ ? base_internal::printed_number("%.5f", *best_).c_str() : "None",
                better ? (", saving model to " + path).c_str() : "");
  if (better) best_ = *current;
  return better;
}

DISTRIBUTE_INLINE void ModelCheckpoint::on_train_end(Logs&) {
  if (checkpoint_) checkpoint_->sync();
}

DISTRIBUTE_INLINE void ModelCheckpoint::write(const std::string& path) {
  CheckpointOptions options = options_.options;
  options.experimental_write_callbacks.push_back([](const std::string& written) {
    const std::string directory = io::directory_of(written);
    CheckpointState state;
    state.model_checkpoint_path = written;
    state.all_model_checkpoint_paths = {written};
    update_checkpoint_state(directory.empty() ? "." : directory, state);
  });
  checkpoint_->write(path, options);
}

}  // namespace distribute::train
