#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <distribute/train/progress.hpp>
#include <distribute/train/seconds_or_steps.hpp>
#include <distribute/train/sidecar_evaluator.hpp>

#include <limits>
#include <memory>
#include <utility>

namespace distribute::train_internal {

/// Restores only the number of steps of the training's optimizer, not its slots. For a
/// LossScaleOptimizer that is the inner one's.
class IterationsOnly : public Trackable {
 public:
  explicit IterationsOnly(const optim::Optimizer& optimizer)
      : iterations_(optimizer.iterations_variable()) {
    if (const auto* scaled = dynamic_cast<const optim::LossScaleOptimizer*>(&optimizer))
      inner_ = std::make_unique<IterationsOnly>(scaled->inner_optimizer());
  }
  std::vector<NamedVariable> own_variables() const override {
    if (inner_) return {};
    return {{"iterations", iterations_}};
  }
  std::vector<Child> children() const override {
    if (!inner_) return {};
    return {{"inner_optimizer", inner_.get()}};
  }

 private:
  Variable iterations_;
  std::unique_ptr<IterationsOnly> inner_;
};

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE SidecarEvaluator::SidecarEvaluator(Model& model, InputData data,
                                                     SidecarEvaluatorOptions options)
    : model_(model),
      data_(std::move(data)),
      options_(std::move(options)),
      checkpoints_(options_.checkpoint_dir, [&] {
        CheckpointsIteratorOptions waiting = options_.waiting;
        waiting.timeout_fn = [this] { return hint(); };
        return waiting;
      }()) {
  if (options_.checkpoint_dir.empty())
    throw InvalidArgumentError("SidecarEvaluator: checkpoint_dir is empty");
}

DISTRIBUTE_INLINE void SidecarEvaluator::tell(const std::string& line) const {
  if (!options_.out) return log_info("evaluator", line);
  std::fprintf(options_.out, "%s\n", line.c_str());
  std::fflush(options_.out);
}

DISTRIBUTE_INLINE bool SidecarEvaluator::hint() {
  if (options_.waiting.timeout_fn && options_.waiting.timeout_fn()) return true;
  tell(str_cat("No checkpoints appear to be found after ", options_.waiting.timeout.value_or(0),
               " seconds. Please check if you are properly using a "
               "`tf.train.Checkpoint/CheckpointManager` with the directory ",
               options_.checkpoint_dir, "."));
  return false;
}

/// Returns false if a file was deleted while it was read, as the trainer keeps a limited number.
DISTRIBUTE_INLINE bool SidecarEvaluator::restore(const std::string& path) {
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  const Variable& iterations = model_.optimizer().iterations_variable();
  iterations.assign(Tensor(kUnknown));
  const train_internal::IterationsOnly optimizer(model_.optimizer());
  try {
    Checkpoint(model_.module(), optimizer).restore(path).expect_partial();
  } catch (const UnavailableError&) {
    throw;
  } catch (const Error& error) {
    tell(str_cat("SidecarEvaluator: error loading checkpoint ", path, ": ", error.what()));
    return false;
  }
  if (counter_value(iterations) != kUnknown) return true;
  throw FailedPreconditionError(
      str_cat("Variables to be loaded from ", path, " do not hold the optimizer's `iterations`; ",
              "the trainer must save the parts \"model\" and \"optimizer\""));
}

DISTRIBUTE_INLINE void SidecarEvaluator::start() {
  model_.build(model_.distribute(data_).element_spec());
  const auto evaluate = [this](const std::string& path) {
    last_logs_ = model_.evaluate(data_, {.steps = options_.steps, .callbacks = options_.callbacks});
    ++evaluations_;
    tell(str_cat("End of evaluation of ", path, ".", figures_text(last_logs_)));
    return options_.max_evaluations &&
           checkpoint_number(path).value_or(0) >= *options_.max_evaluations;
  };
  follow_checkpoints(checkpoints_,
                     {[this](const std::string& path) { return restore(path); }, evaluate});
}

DISTRIBUTE_INLINE SidecarEvaluatorModelExport::SidecarEvaluatorModelExport(
    SidecarEvaluatorModelExportOptions options)
    : ModelCheckpoint({.filepath = options.export_filepath,
                       .monitor = options.monitor,
                       .verbose = options.verbose,
                       .save_best_only = true,
                       .save_weights_only = options.save_weights_only,
                       .mode = options.mode}),
      checkpoint_dir_(options.checkpoint_dir) {}

DISTRIBUTE_INLINE void SidecarEvaluatorModelExport::on_test_end(Logs& logs) {
  const auto latest = latest_checkpoint(checkpoint_dir_);
  const auto number = latest ? checkpoint_number(*latest) : std::nullopt;
  Logs none;
  on_train_begin(none);
  on_epoch_end(number.value_or(1) - 1, logs);  // the path's epochs count from 1
}

}  // namespace distribute::train
