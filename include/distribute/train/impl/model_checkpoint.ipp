#pragma once
#include <distribute/base/detail/printed_number.hpp>
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/model_checkpoint.hpp>

#include <cmath>
#include <cstdio>
#include <utility>

namespace distribute::train_internal {

/// One figure as Python's format does. Whole numbers need no format.
DISTRIBUTE_INLINE std::string format_figure(const std::string& format, double value) {
  size_t at = 0;
  while (at < format.size() &&
         std::string_view("0123456789.").find(format[at]) != std::string::npos)
    ++at;
  const std::string type = format.substr(at);
  const bool known = type.empty() || type == "d" || type == "e" || type == "f" || type == "g";
  if (!known || at > 8 || format.find('.') != format.rfind('.'))
    throw InvalidArgumentError("'" + format + "' is no format of a number");
  const std::string size = "%" + format.substr(0, at);
  if (type == "d" || (type.empty() && value == std::floor(value) && std::abs(value) < 1e15)) {
    char text[512];
    std::snprintf(text, sizeof(text), (size + "lld").c_str(), (long long)value);
    return text;
  }
  return base_internal::printed_number(size + (type.empty() ? "g" : type), value);
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::string format_figures(const std::string& pattern, const Logs& values) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if ((c == '{' || c == '}') && i + 1 < pattern.size() && pattern[i + 1] == c) {
      text += pattern[i++];
      continue;
    }
    if (c != '{') {
      text += c;
      continue;
    }
    const size_t end = pattern.find('}', i);
    if (end == std::string::npos) throw InvalidArgumentError("'" + pattern + "': a '{' has no '}'");
    const std::string field = pattern.substr(i + 1, end - i - 1);
    const size_t colon = field.find(':');
    const double* value = values.find(field.substr(0, colon));
    if (!value)
      throw InvalidArgumentError(str_cat("Failed to format this callback filepath: \"", pattern,
                                         "\". Reason: there is no '", field.substr(0, colon),
                                         "'; there are: ", values.names()));
    text += train_internal::format_figure(colon == std::string::npos ? "" : field.substr(colon + 1),
                                          *value);
    i = end;
  }
  return text;
}

DISTRIBUTE_INLINE ModelCheckpoint::ModelCheckpoint(ModelCheckpointOptions options)
    : options_(std::move(options)),
      monitor_("ModelCheckpoint", options_.monitor, options_.mode),
      best_(options_.initial_value_threshold.value_or(monitor_.worst())) {
  if (options_.filepath.empty()) throw InvalidArgumentError("ModelCheckpoint: empty filepath");
  if (options_.save_freq.never())
    throw InvalidArgumentError("Unrecognized save_freq: expected \"epoch\" or a number of batches");
}

DISTRIBUTE_INLINE void ModelCheckpoint::on_train_begin(Logs&) {
  CheckpointParts parts = model().checkpoint_parts();
  if (options_.save_weights_only) parts.resize(1);
  checkpoint_ = std::make_shared<Checkpoint>(std::move(parts));
  last_batch_ = batches_since_save_ = 0;
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
  const bool prints = options_.verbose && model().is_chief();
  if (options_.save_best_only) {
    const auto current = monitor_.value(logs);
    if (!current) return;
    const bool best = monitor_.improves(*current, best_);
    if (prints)
      std::printf("Epoch %lld: %s %s from %.5f%s\n", (long long)epoch_ + 1,
                  options_.monitor.c_str(), best ? "improved" : "did not improve", best_,
                  best ? (", saving model to " + path).c_str() : "");
    if (!best) return;
    best_ = *current;
  } else if (prints) {
    std::printf("Epoch %lld: saving model to %s\n", (long long)epoch_ + 1, path.c_str());
  }
  write(path);
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
