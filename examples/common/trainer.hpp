#pragma once
/// Trains a network on batches of pictures under any strategy, and tests it.

#include "build.hpp"
#include "horovod_job.hpp"
#include "options.hpp"
#include "run_report.hpp"

#include <distribute/base/termination_signal.hpp>
#include <distribute/distribute.hpp>
#include <distribute/platforms.hpp>
#include <distribute/saved_model.hpp>

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace examples {

/// What an example brings: a network and its data. Labels are integers, one a picture.
struct Task {
  std::unique_ptr<distribute::nn::Module> model;  // gives logits
  distribute::Shape image;                        // [height, width, channels]
  int64_t training_images = 0;                    // one epoch
  distribute::data::Dataset training;             // batches of the global size, round and round
  distribute::data::Dataset test;                 // batches; every picture once
  bool top_5 = false;                             // report whether the label is among five, too
  double warmup_epochs = 0;                       // where --warmup_steps is not given
  bool is_launch_bound = false;  // GPUs wait for the next kernel: --cuda_graph=auto is true
  std::shared_ptr<distribute::data::BadPictures> left_out = {};  // told at the end, if any
  distribute::data::PipelineStatisticsPtr statistics = {};       // of `training`; told at the end
};

/// Called in the strategy's scope.
using MakeTask = std::function<Task()>;

/// Model, optimizer and data of one run, made in the strategy's scope.
class Trainer {
 public:
  /// Reads the data and builds the model.
  /// Throws  distribute::Error for data, weights or directories that cannot be used.
  /// `horovod`: null unless the step is to be written the Horovod way.
  Trainer(const TrainerOptions& options, distribute::Strategy& strategy, const MakeTask& make_task,
          HorovodJob* horovod = nullptr);

  /// True on workers whose steps a coordinator gives out: they serve instead of training.
  bool serves() const { return coordinated_ && !is_chief(); }
  /// Trains to the last step, from a checkpoint when there is one; saves what the flags ask for.
  /// Throws  distribute::Error; FailedPreconditionError names step and variable of a NaN.
  void train(RunReport& report);
  /// With --elastic: train and evaluate, again when workers are lost meanwhile. Gives whether this
  /// worker was there to the end.
  bool train_and_evaluate_elastically(RunReport& report);
  /// Loss and accuracy on the test pictures, with the weights' averages where they are kept.
  void evaluate(RunReport& report);
  /// The evaluator's part: evaluates every new checkpoint of the directory, up to the last step's.
  /// Throws  DeadlineExceededError when none has come for --eval_timeout seconds.
  void follow(const std::string& checkpoint_dir, RunReport& report);
  /// --export_dir and --export_onnx, with the weights' averages where they are kept.
  void export_model();
  /// After the last of all.
  void close_outputs();
  /// What was wrong with the data, for the user; empty when nothing was.
  std::string complaints() const { return task_.left_out ? task_.left_out->summary() : ""; }

 private:
  using Batch = distribute::data::Batch;
  /// Of a batch: share of the mean over the global batch, and with servers the right answers' part.
  struct Loss {
    distribute::Tensor loss, right;
  };
  /// One replica's share of a step: [loss], with servers [loss, part of right answers], with
  /// --loss_csv [loss, norm of the summed gradients]; and the number of the step in the job, -1
  /// when it was left out.
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
  distribute::data::Dataset training_data() const;
  distribute::data::Dataset training_data(const distribute::InputContext& place) const;
  void build_model();
  void register_functions();
  void agree_on_options();
  void restore();
  void open_manager();
  void open_loss_csv();
  void open_outputs();
  bool may_change_chief() const;
  bool is_chief() const {
    return horovod_ ? horovod_->is_chief() : strategy_.extended().should_checkpoint();
  }
  int64_t num_replicas() const {
    return horovod_ ? distribute::hvd::size() : strategy_.num_replicas_in_sync();
  }
  std::vector<distribute::Tensor> all_reduce(
      const std::vector<distribute::Tensor>& gradients) const;
  int64_t minimize(const distribute::Tensor& loss, distribute::GradientTape& tape);
  int64_t apply(const std::vector<distribute::Tensor>& gradients, bool are_summed);
  void step_left_out(double loss) const;
  distribute::Trackable* saved_optimizer() const;
  distribute::train::TensorState position_in_data();
  distribute::train::CheckpointParts checkpoint_parts();
  void check_same_network(const std::string& saved);
  bool is_told_to_go() const;
  void watch_for_end();
  void leave_if_told();
  void log_scalar(const std::string& name, double value, int64_t step) const;
  void log_input(int64_t step) const;
  void report_input(RunReport& report) const;
  Loss loss_of(const Batch& batch);
  distribute::Tensor with_right(const Loss& loss) const;
  ReplicaStep replica_step(const Batch& batch);
  void record_steps();
  std::string why_not_recorded() const;
  distribute::Tensor test_batch(const Batch& batch);
  Step step(const distribute::PerReplica<Batch>& batch);
  void step_done(const Step& step, const std::string& worker);
  void save(int64_t step);
  void train_loop(int64_t first, Progress& progress);
  distribute::PerReplica<Batch> next_batch();
  void members_changed(const distribute::train::ElasticMembers& members);
  bool train_and_evaluate_as_ranks(RunReport& report);
  void coordinate(int64_t first, Progress& progress);
  void report_job(RunReport& report, int64_t first, double seconds) const;
  std::string first_without_numbers() const;
  void check_finite(const char* what, double loss, int64_t step) const;
  void check_worth_saving(int64_t step) const;
  void check_loss_csv() const;

  TrainerOptions options_;
  distribute::Strategy& strategy_;
  HorovodJob* horovod_;
  std::optional<distribute::ParameterServerJob> servers_;  // nothing: another strategy
  bool coordinated_;
  distribute::Scope scope_;
  Task task_;
  distribute::nn::Module& model_;
  int64_t total_steps_;
  std::unique_ptr<distribute::optim::Optimizer> optimizer_;
  std::unique_ptr<distribute::optim::LossScaleOptimizer> loss_scale_;  // --policy=mixed_float16
  /// A step as a CUDA graph, where --cuda_graph wants that; gives the sums of a ReplicaStep.
  std::optional<distribute::Function<std::function<distribute::Tensor(const Batch&)>>> recorded_;
  std::optional<distribute::DistributedIterator> iterator_;
  std::optional<distribute::train::ElasticIterator> elastic_iterator_;  // with --elastic, instead
  distribute::train::Checkpoint checkpoint_;
  std::optional<distribute::train::CheckpointManager> manager_;
  std::optional<distribute::PreemptionCheckpointHandler> preemption_;
  // Where the handler does not watch the signal itself.
  std::unique_ptr<distribute::TerminationSignal> told_;
  std::unique_ptr<distribute::train::PreemptionNotice> notice_;
  std::unique_ptr<distribute::train::ElasticLoop> elastic_loop_;  // while it runs
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> loss_csv_{nullptr, &std::fclose};
  std::optional<distribute::summary::FileWriter> writer_;
  std::unique_ptr<distribute::RemoteDataset> remote_data_;  // of a coordinator
  std::unique_ptr<RemoteStep> remote_step_;
  double last_loss_ = 0;
  int64_t last_saved_ = 0;  // step
};

/// The results of a test, for people and for whoever tunes.
void print_test(const RunReport& report, bool metric_lines);

/// A whole run: strategy, training, test, report. Gives the exit status; errors become one line.
int run_trainer(const TrainerOptions& options, const MakeTask& make_task);

}  // namespace examples
