#pragma once
/// Evaluates the checkpoints of a running training in a separate process.

#include <distribute/base/config.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <distribute/train/fit_options.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/model_checkpoint.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

struct SidecarEvaluatorOptions {  // options of SidecarEvaluator
  std::string checkpoint_dir;
  std::optional<int64_t> steps = {};            // of an evaluation; unset: all data
  std::optional<int64_t> max_evaluations = {};  // ends after the checkpoint of this number
  std::vector<CallbackHandle> callbacks = {};
  std::FILE* out = nullptr;  // output of its lines; null: the log
  /// `timeout` is the number of seconds after which it logs that it still waits.
  CheckpointsIteratorOptions waiting = {.timeout = 30};
};

/// Evaluates checkpoints with the parts "model" and "optimizer", as BackupAndRestore,
/// ModelCheckpoint and Checkpoint(model, optimizer) write them. It reads the weights, and the
/// number of steps, at which callbacks such as TensorBoard write. Checkpoints that a newer one has
/// replaced are skipped. It never gives up waiting. Run it as the task `evaluator`, outside of the
/// cluster, with a strategy of one process.
/// Source  tf.keras.utils.SidecarEvaluator
class SidecarEvaluator {
 public:
  /// `model` must be compiled, with the same kind of optimizer as the training's.
  SidecarEvaluator(Model& model, InputData data, SidecarEvaluatorOptions options);
  /// Evaluates until max_evaluations is reached, or waiting.timeout_fn returns true.
  /// Throws  FailedPreconditionError for a checkpoint without the optimizer's iterations;
  ///          UnavailableError; what the evaluation throws. Other errors of a restore are logged,
  ///          and the next checkpoint is tried.
  void start();
  /// Returns loss and metrics of the last evaluation; empty before the first.
  const Logs& last_logs() const { return last_logs_; }
  int64_t evaluations() const { return evaluations_; }

 private:
  bool restore(const std::string& path);
  void tell(const std::string& line) const;
  bool hint();

  Model& model_;
  InputData data_;
  SidecarEvaluatorOptions options_;
  CheckpointsIterator checkpoints_;
  Logs last_logs_;
  int64_t evaluations_ = 0;
};

struct SidecarEvaluatorModelExportOptions {  // options of SidecarEvaluatorModelExport
  std::string export_filepath;               // a pattern as in ModelCheckpointOptions::filepath
  std::string checkpoint_dir;                // directory of the evaluator's checkpoints
  std::string monitor = "loss";
  MonitorMode mode = MonitorMode::Auto;
  bool save_weights_only = true;
  bool verbose = false;
};

/// Saves the model when an evaluation is the best so far; {epoch} is the number of its checkpoint.
/// Source  tf.keras.callbacks.SidecarEvaluatorModelExport
class SidecarEvaluatorModelExport : public ModelCheckpoint {
 public:
  explicit SidecarEvaluatorModelExport(SidecarEvaluatorModelExportOptions options);
  DISTRIBUTE_INLINE void on_test_end(Logs& logs) override;

 private:
  std::string checkpoint_dir_;
};

}  // namespace distribute::train
