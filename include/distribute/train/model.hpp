#pragma once
/// Trains, tests and uses a module: Keras's compile, fit, evaluate and predict.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/compile.hpp>
#include <distribute/train/detail/step_means.hpp>
#include <distribute/train/detail/step_order.hpp>
#include <distribute/train/fit_options.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::saved_model {
struct SaveOptions;
}

namespace distribute::nn {
class NamedModule;
}
namespace distribute::optim {
class LossScaleOptimizer;
}
namespace distribute::train_internal {
class CoordinatedSteps;
struct NamedBatch;
}  // namespace distribute::train_internal

namespace distribute::train {

class CallbackList;
class FitIterator;
class FitLoop;
class TestLoop;
class GradientAccumulator;

/// Applies the gradients of a step's loss. It is called on every replica.
using MinimizeFunction =
    std::function<void(const Tensor& loss, const std::vector<Variable>&, GradientTape&)>;

/// Source  the arguments of tf.keras.Model.compile
struct CompileOptions {
  optim::Optimizer& optimizer;  // outlives the model
  LossFunction loss = {};       // of every output
  /// The loss of each output by its name; loss_weights are their factors in the sum, 1 by default.
  std::map<std::string, LossFunction> losses = {};
  std::map<std::string, double> loss_weights = {};
  std::vector<CompiledMetric> metrics = {};  // of a module with one output
  /// Metrics that use sample weights and class weights; those in `metrics` do not. A metric with
  /// the name of another one is called "weighted_" and its name.
  std::vector<CompiledMetric> weighted_metrics = {};
  /// Metrics by output; logs call them "<output>_<metric>", and the output's loss "<output>_loss".
  /// If there is one output, or one loss, these are "<metric>" and "loss", as in Keras.
  std::map<std::string, std::vector<CompiledMetric>> output_metrics = {};
  std::map<std::string, std::vector<CompiledMetric>> weighted_output_metrics = {};
  /// Number of batches whose gradients are averaged for one update of the weights.
  int64_t gradient_accumulation_steps = 1;
  /// Number of batches between two calls of callbacks and two readings of metrics, which cost a
  /// wait for the device and an operation between workers; larger numbers help small models. Hooks
  /// of batches get the numbers of the first and the last of these batches.
  int64_t steps_per_execution = 1;
  /// With false, one replica and a GPU, the updates of steps are recorded as a CUDA graph if
  /// possible (strategy/function.hpp), once in each fit. Steps are never recorded with true, your
  /// own train_step, accumulated gradients or several named outputs.
  bool run_eagerly = false;
  /// Called in place of optimizer.minimize(), such as hvd::minimizer(). It must not be combined
  /// with gradient_accumulation_steps.
  MinimizeFunction minimize = {};
  /// Wraps the optimizer of a module with policy "mixed_float16" in a LossScaleOptimizer, so that
  /// small gradients do not vanish. It has no effect with your own minimize, whose optimizer you
  /// wrap yourself.
  bool auto_scale_loss = true;
};

/// A module with everything needed to train it, under the strategy in whose scope it is made. With
/// several workers every worker makes the same calls; metrics are those of all replicas together,
/// weighted by the true numbers of examples. Batches hold inputs, targets, and optionally sample
/// weights. Use it outside strategy.run, on one thread.
///
///   train::Model model(network);
///   model.compile({.optimizer = optimizer,
///                  .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
///                  .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});
///   const auto history = model.fit(images, {.epochs = 5, .validation_data = test_images});
///
/// An nn::NamedModule gets inputs, and its outputs their targets, from the components of those
/// names; without names they are taken in that order. The component "sample_weight", or
/// "<output>_weight", holds weights.
///
/// Under a ParameterServerStrategy whose job has a chief every process makes and compiles the
/// model, workers and servers `return Server(strategy).join();` before fit, and the chief calls
/// fit, evaluate and predict, whose steps run on the workers that are free. Steps of lost workers
/// run again. Callbacks get epochs only. The job ends when the model is destroyed.
///
/// Source  tf.keras.Model
class Model {
 public:
  /// Borrows `module`, which must outlive the model.
  explicit Model(nn::Module& module);
  DISTRIBUTE_INLINE virtual ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Throws  InvalidArgumentError for fewer than one step of accumulation or execution, and if two
  ///          metrics, or a metric and the loss, have one name.
  void compile(CompileOptions options);

  /// Trains from `initial_epoch` to `epochs`, or until a callback stops it. Without steps_per_epoch
  /// an epoch is one pass over the data; with it the next epoch continues after the last batch. At
  /// the end, before on_train_end, the averages of an optimizer with use_ema become the weights. In
  /// an elastic job (MultiWorkerOptions::elastic) training continues with the same batches when
  /// workers are lost, leave or join; if that happens in the middle of an epoch, on_epoch_begin is
  /// called again. A History then begins when its worker joined, and History::end says why it
  /// ended; afterwards the worker is alone.
  /// Throws  FailedPreconditionError before compile; InvalidArgumentError for data without
  ///          elements, data without an end if no number of steps is given, inconsistent options,
  ///          and, in an elastic job, data that is divided already; what ElasticLoop::run, the
  ///          steps and the callbacks throw.
  History fit(const InputData& data, const FitOptions& options = {});
  /// Trains with arrays, in batches.
  /// Throws  InvalidArgumentError also for a validation_split outside of [0, 1), one that leaves no
  ///          example on one side, validation data given twice, and steps_per_epoch, which needs a
  ///          dataset that repeats.
  History fit(const ArrayData& arrays, const FitOptions& options = {},
              const ArrayOptions& array_options = {});
  /// Returns loss and metrics over all examples, each counted once.
  /// Throws  as fit.
  Logs evaluate(const InputData& data, const EvaluateOptions& options = {});
  /// Does this with arrays, in batches.
  Logs evaluate(const ArrayData& arrays, const EvaluateOptions& options = {},
                int64_t batch_size = 32);
  /// Returns the predictions for all examples, in the order of the data, on every worker.
  /// Shapes  [examples, ...]
  Tensor predict(const data::Dataset& data, const PredictOptions& options = {});
  /// Returns the predictions for the rows of an array.
  Tensor predict(const Tensor& x, const PredictOptions& options = {}, int64_t batch_size = 32);
  /// Returns the predictions of a module of several named outputs.
  std::map<std::string, Tensor> predict_outputs(const data::Dataset& data,
                                                const PredictOptions& options = {});

  /// Writes the module as a SavedModel; every worker calls it.
  /// Throws  FailedPreconditionError without <distribute/saved_model.hpp>; as saved_model::save.
  void save(const std::string& path);
  void save(const std::string& path, const saved_model::SaveOptions& options);

  /// Makes one step of all replicas and returns loss and metrics of this batch; for your own loops.
  /// Class weights of fit do not count.
  Logs train_on_batch(const PerReplica<data::Batch>& batch);
  /// Creates the weights for elements like these, unless they exist or sizes are unknown.
  void build(const data::ElementSpec& spec);
  /// Returns the data as the strategy divides it.
  DistributedDataset distribute(const InputData& data) const;

  /// Returns the network inside; strategy() the strategy in whose scope the model was made.
  nn::Module& module() const { return module_; }
  Strategy& strategy() const { return strategy_; }
  /// Returns whether steps run on the workers of a coordinator.
  bool has_coordinator() const { return coordinated_ != nullptr; }
  /// Makes steps run in this process, for jobs whose workers train without Server::join().
  void run_without_coordinator();
  /// Returns whether this is the worker that writes files.
  bool is_chief() const;
  /// Returns the optimizer of compile(), or the LossScaleOptimizer around it.
  /// Throws  FailedPreconditionError before compile.
  optim::Optimizer& optimizer() const;
  const std::vector<CompiledMetric>& metrics() const;
  /// Returns which values of an entry of the logs are better; its name may begin with "val_".
  /// Unknown if it is neither a loss nor a metric of compile().
  nn::metrics::Direction direction_of(const std::string& figure) const;
  int64_t steps_per_execution() const;

  /// Returns the number of examples of this step, or the last one, on all replicas together.
  int64_t global_batch_size() const { return global_batch_; }

  /// Ends the loop after this batch; callbacks call it.
  void stop_training() { stop_training_ = true; }
  bool training_is_stopped() const { return stop_training_; }
  /// Ends evaluate or predict after this batch. Every worker's callbacks must call it at the same
  /// batch.
  void stop_evaluating() { stop_evaluating_ = true; }
  void stop_predicting() { stop_predicting_ = true; }
  /// Makes the loop begin with this batch of this epoch, with the data at that position; callbacks
  /// call it in on_train_begin.
  void resume_at(int64_t epoch, int64_t batch);
  /// Returns module and optimizer as parts of a checkpoint.
  CheckpointParts checkpoint_parts() const;
  /// Returns all parts needed to continue in the middle of an epoch: also accumulated gradients,
  /// the position in the data, the metrics of the epoch and the states of the callbacks. Call it
  /// while fit runs.
  CheckpointParts training_state();

 protected:
  /// Makes one replica's part of a training step, on the replica's thread: computes gradients,
  /// updates weights and metrics, and returns the replica's shares of the loss and other values.
  DISTRIBUTE_INLINE virtual StepLogs train_step(const data::Batch& batch);
  /// Makes one replica's part of a step of evaluate, without an update.
  DISTRIBUTE_INLINE virtual StepLogs test_step(const data::Batch& batch);
  DISTRIBUTE_INLINE virtual Tensor predict_step(const data::Batch& batch);

  /// Returns this replica's share of the loss, regularization included; steps call it.
  Tensor compute_loss(const data::Batch& batch, const Tensor& prediction);
  /// Adds this replica's part of the batch to the metrics of compile(); steps call it.
  void update_metrics(const data::Batch& batch, const Tensor& prediction);
  /// Updates the weights, at once or after the last step of a gradient accumulation.
  void minimize(const Tensor& loss, GradientTape& tape);

 private:
  friend class FitLoop;
  friend class TestLoop;
  /// Divides the data of an evaluation: a Dataset of fewer files than workers by its elements,
  /// unless it names a policy.
  DistributedDataset distribute_for_test(const InputData& data) const;
  /// Holds one metric of compile() and its name in the logs.
  struct Figure {
    std::string name, output;  // name in logs; output is empty for a module that has one
    CompiledMetric metric;
    bool weighted;
  };
  void make_figures(const CompileOptions& options);
  void add_figures_of(const std::string& output, const std::vector<CompiledMetric>& metrics,
                      bool weighted, const CompileOptions& options);
  void check_outputs(const CompileOptions& options) const;
  void scale_loss_where_needed();
  void build_named(const data::ElementSpec& spec);
  Tensor with_regularization(Tensor loss) const;
  StepLogs named_losses(const train_internal::NamedBatch& batch,
                        const std::map<std::string, Tensor>& outputs);
  /// Returns the loss of an output; null for an output without a loss, and another name.
  const LossFunction* loss_of(const std::string& output) const;
  void weigh_classes(train_internal::NamedBatch& batch,
                     const std::map<std::string, Tensor>& outputs);
  void update_named_metrics(const train_internal::NamedBatch& batch,
                            const std::map<std::string, Tensor>& outputs);
  StepLogs named_step(const data::Batch& batch, bool training);
  /// Returns all outputs of a module with several, in their order, or the one of predict_step.
  std::vector<Tensor> predict_parts(const data::Batch& batch, bool all_outputs);
  /// A list for each output with the predictions for each batch.
  using Predictions = std::vector<std::vector<Tensor>>;
  std::vector<Tensor> predict_all(const data::Dataset& data, const PredictOptions& options,
                                  bool all_outputs);
  void predict_here(const data::Dataset& data, const CallbackList& callbacks,
                    std::optional<int64_t> steps, bool all_outputs, Predictions& results);
  void predict_on_workers(const data::Dataset& data, const CallbackList& callbacks,
                          std::optional<int64_t> steps, bool all_outputs, Predictions& results);
  void require_compiled(const char* method) const;
  /// Functions for a coordinator: the order that workers get, the functions of a worker, and the
  /// objects that the chief makes first, so that callbacks find weights and slots.
  train_internal::StepOrder step_order(bool training) const;
  std::unique_ptr<train_internal::CoordinatedSteps> worker_steps();
  train_internal::StepReport run_order(const train_internal::StepOrder& order,
                                       const train_internal::NextBatches& next);
  void build_for_workers(const data::ElementSpec& spec);
  int64_t count_examples(const PerReplica<data::Batch>& batch);
  /// Makes one step of all replicas. add_figures() reads its results.
  void run_step(const PerReplica<data::Batch>& batch, bool training);
  /// Records steps anew, if possible.
  void record_steps();
  StepLogs recorded_step(const data::Batch& batch);
  struct Updated {
    Tensor loss, prediction;
  };
  /// Does the part of train_step before the metrics.
  Updated update_weights(const data::Batch& batch);
  void accumulate(std::vector<Tensor> gradients, const std::vector<Variable>& variables);
  /// Reads the results of the steps since the last call, in one operation between workers.
  void add_figures(StepMeans& means);
  void reset_metrics();
  void add_metrics(Logs& logs) const;

  nn::Module& module_;
  Strategy& strategy_;
  std::unique_ptr<CompileOptions> compiled_;
  std::unique_ptr<optim::LossScaleOptimizer> scaled_;  // around compiled_->optimizer
  std::unique_ptr<GradientAccumulator> accumulator_;
  int64_t global_batch_ = 0, local_batch_ = -1;  // examples of the last step
  bool stop_training_ = false, stop_evaluating_ = false, stop_predicting_ = false;
  std::unique_ptr<FitIterator> iterator_;  // of fit
  StepMeans means_;                        // of fit's epoch
  std::vector<UnreadStep> unread_;
  CallbackList* callbacks_ = nullptr;      // of fit
  std::map<int64_t, float> class_weight_;  // of fit
  std::vector<Figure> figures_;
  std::vector<CompiledMetric> all_metrics_;
  nn::NamedModule* named_ = nullptr;  // the module, if it has several inputs or outputs
  int64_t compilations_ = 0;
  std::unique_ptr<train_internal::CoordinatedSteps> coordinated_;  // null without a coordinator
  struct Start {
    int64_t epoch = 0, batch = 0;
  };
  std::optional<Start> start_;  // set by a callback
  struct Recorded;
  std::unique_ptr<Recorded> recorded_;  // steps as a CUDA graph
};

}  // namespace distribute::train
