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
#include <vector>

namespace mnist_cnn {

/// Model, optimizer and data of one run, made in the strategy's scope.
class Trainer {
 public:
  /// Reads the data and builds the model.
  /// Throws  distribute::Error for data, weights or directories that cannot be used.
  Trainer(const examples::TrainerOptions& options, distribute::Strategy& strategy);

  /// True on workers whose steps a coordinator gives out: they serve instead of training.
  bool serves() const { return coordinated_ && !is_chief(); }
  /// Trains to the last step, from a checkpoint when there is one; saves what the flags ask for.
  /// Throws  distribute::Error; FailedPreconditionError names step and variable of a NaN.
  void train(examples::RunReport& report);
  /// Loss and accuracy on the test images.
  void evaluate(examples::RunReport& report);

 private:
  using Batch = distribute::data::Batch;
  /// One replica's share of a step: [loss, part of right answers] or, with --loss_csv, [loss, norm
  /// of the gradients]; and the number that the step has in the job.
  struct ReplicaStep {
    distribute::Tensor sums;
    int64_t number;
  };
  struct Step {
    double loss, second;
    int64_t number;
  };
  using RemoteStep = distribute::RemoteFunction<std::vector<double>(distribute::data::Iterator&)>;

  void check_same_data();
  void build_model();
  void restore();
  void open_loss_csv();
  bool is_chief() const { return strategy_.extended().should_checkpoint(); }
  void log_scalar(const char* name, double value, int64_t step) const;
  distribute::data::Dataset training_data() const;
  distribute::data::Dataset training_data(const distribute::InputContext& place) const;
  ReplicaStep replica_step(const Batch& batch);
  distribute::Tensor test_batch(const Batch& batch);
  Step step(const distribute::PerReplica<Batch>& batch);
  void step_done(const Step& step, const std::string& worker);
  void register_functions();
  void train_loop(int64_t first, examples::Progress& progress);
  void coordinate(int64_t first, examples::Progress& progress);
  void agree_on_options();
  void report_job(examples::RunReport& report, int64_t first, double seconds) const;
  void check_finite(double loss, int64_t step) const;

  examples::TrainerOptions options_;
  distribute::Strategy& strategy_;
  distribute::strategy_internal::ParameterServerExtended* servers_;  // null: another strategy
  bool coordinated_;
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
  std::unique_ptr<distribute::RemoteDataset> remote_data_;  // of a coordinator
  std::unique_ptr<RemoteStep> remote_step_;
  double last_loss_ = 0;
  int64_t last_saved_ = 0;  // step
};

}  // namespace mnist_cnn
