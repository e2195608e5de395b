#pragma once
/// Trains one of the networks on MNIST under any strategy, and tests it.

#include "../common/build.hpp"
#include "../common/options.hpp"
#include "../common/run_report.hpp"

#include <distribute/distribute.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace mnist_cnn {

/// Model, optimizer and data of one run, made in the strategy's scope.
class Trainer {
 public:
  /// Reads the data and builds the model.
  /// Throws  distribute::Error for data, weights or directories that cannot be used.
  Trainer(const examples::TrainerOptions& options, distribute::Strategy& strategy);

  /// Trains to the last step, from a checkpoint when there is one; saves what the flags ask for.
  /// Throws  distribute::Error; FailedPreconditionError names step and variable of a NaN.
  void train(examples::RunReport& report);
  /// Loss and accuracy on the test images.
  void evaluate(examples::RunReport& report);

 private:
  using Batch = distribute::data::Batch;

  void check_same_data();
  void build_model();
  void restore();
  void open_loss_csv();
  bool is_chief() const { return strategy_.extended().should_checkpoint(); }
  void log_scalar(const char* name, double value, int64_t step) const;
  distribute::data::Dataset training_data() const;
  distribute::Tensor replica_step(const Batch& batch);
  distribute::Tensor test_batch(const Batch& batch);
  double step(const distribute::PerReplica<Batch>& batch, int64_t step);
  void check_finite(double loss, int64_t step) const;

  examples::TrainerOptions options_;
  distribute::Strategy& strategy_;
  distribute::Scope scope_;
  distribute::data::Dataset images_;
  int64_t total_steps_;
  distribute::nn::Sequential model_;
  std::unique_ptr<distribute::optim::Optimizer> optimizer_;
  distribute::DistributedIterator iterator_;
  distribute::train::Checkpoint checkpoint_;
  std::optional<distribute::train::CheckpointManager> manager_;
  std::optional<distribute::PreemptionCheckpointHandler> preemption_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> loss_csv_{nullptr, &std::fclose};
  std::optional<distribute::summary::FileWriter> writer_;
};

}  // namespace mnist_cnn
