#pragma once
/// Base of all optimizers: reduces gradients over the replicas and updates variables in one pass.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/trackable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/optim/detail/slot_table.hpp>
#include <distribute/optim/optimizer_config.hpp>
#include <distribute/optim/schedules.hpp>
#include <distribute/replica/replica_context.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace distribute {
class RecordedStep;
}

namespace distribute::optim {

namespace optim_internal {
struct VariableFormula;
}  // namespace optim_internal

/// Holds options that all optimizers have.
struct CommonOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = {};     // w -= w * weight_decay * learning rate
  std::optional<double> clipnorm = {};         // largest L2 norm of each gradient
  std::optional<double> clipvalue = {};        // largest absolute element
  std::optional<double> global_clipnorm = {};  // largest L2 norm of all gradients together
  // True: each replica clips its own gradients before they are summed, as Keras 3.15 does, so that
  // the result depends on the number of replicas. False: the sum is clipped.
  bool clip_per_replica = false;
  bool use_ema = false;  // keeps moving averages of the weights
  double ema_momentum = 0.99;
  /// number of steps after which averages replace the weights
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = {};
  std::optional<double> coupled_weight_decay = {};  // gradient += w * coupled_weight_decay
};

/// Takes the common part from an optimizer's options.
template <typename Options>
CommonOptions common_options(const Options& o) {
  CommonOptions common{o.learning_rate, o.weight_decay,    o.clipnorm,
                       o.clipvalue,     o.global_clipnorm, o.clip_per_replica,
                       o.use_ema,       o.ema_momentum,    o.ema_overwrite_frequency,
                       o.name};
  if constexpr (requires { o.coupled_weight_decay; })
    common.coupled_weight_decay = o.coupled_weight_decay;
  return common;
}

/// Fills the common part of the options from a configuration.
template <typename Options>
Options options_from(const OptimizerConfig& config) {
  Options options;
  config.get("learning_rate", options.learning_rate);
  config.get("weight_decay", options.weight_decay);
  config.get("clipnorm", options.clipnorm);
  config.get("clipvalue", options.clipvalue);
  config.get("global_clipnorm", options.global_clipnorm);
  config.get("clip_per_replica", options.clip_per_replica);
  config.get("use_ema", options.use_ema);
  config.get("ema_momentum", options.ema_momentum);
  config.get("ema_overwrite_frequency", options.ema_overwrite_frequency);
  config.get("name", options.name);
  if constexpr (requires { options.coupled_weight_decay; })
    config.get("coupled_weight_decay", options.coupled_weight_decay);
  return options;
}

/// The gradients that minimize() computed, whose sums over the replicas may have begun.
struct BegunGradients {
  const std::vector<Tensor>& gradients;
  bool applied = false;
};

struct ApplyOptions {                       // options of Optimizer::apply_gradients
  bool skip_gradients_aggregation = false;  // the gradients are already summed over replicas
  // Receives the summed and clipped gradients in the order of the variables, with an empty tensor
  // for a variable without gradient. Sums then no longer overlap with the backward pass.
  std::vector<Tensor>* reduced_gradients = nullptr;
  // Replaces a gradient that only other replicas have by zeros, for replicas that take different
  // branches. This costs a small reduction in each step; without it such a step is an error.
  bool find_unused_parameters = false;
  BegunGradients* begun = nullptr;  // minimize() sets it; an override hands its options on
};

/// Replica threads call apply_gradients together; everything else belongs to one thread.
/// Create it in the strategy's scope, as its step count and slots are variables.
/// Source  tf.keras.optimizers.Optimizer
class Optimizer : public Trackable {
 public:
  /// Throws  InvalidArgumentError when more than one kind of clipping is asked for, for a limit
  ///         that is not positive, an ema_momentum outside [0, 1] and a frequency below 1.
  explicit Optimizer(CommonOptions options);
  DISTRIBUTE_INLINE ~Optimizer() override;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Makes one step: sums the gradients over all replicas, clips them, and updates the variables.
  /// Variables without a gradient on all replicas stay as they are, with a warning. Returns the
  /// number of the step, which is iterations() after it. With parameter servers every step of every
  /// worker has its own number.
  /// Blocks  until every replica has called it.
  /// Throws  FailedPreconditionError in cross-replica context; InvalidArgumentError when sizes
  ///         differ or no variable has a gradient.
  DISTRIBUTE_INLINE virtual int64_t apply_gradients(const std::vector<Tensor>& gradients,
                                                    const std::vector<Variable>& variables,
                                                    ApplyOptions options = {});
  /// Takes the gradients of `loss` from the tape and calls apply_gradients(). Between hosts
  /// gradients are summed while the tape still computes others; an apply_gradients() of your own
  /// that changes them there is an error, and needs a minimize() of your own, too.
  DISTRIBUTE_INLINE virtual int64_t minimize(const Tensor& loss,
                                             const std::vector<Variable>& variables,
                                             GradientTape& tape, ApplyOptions options = {});
  /// Gives the tensor whose gradients apply_gradients() expects: the loss itself, or a scaled loss
  /// for a LossScaleOptimizer.
  /// Source  tf.keras.optimizers.Optimizer.scale_loss
  virtual Tensor scale_loss(const Tensor& loss) const { return loss; }

  /// Returns the number of steps done, 0 at the start; checkpoints save it.
  int64_t iterations() const { return iterations_variable().value().item<int64_t>(); }
  virtual const Variable& iterations_variable() const { return iterations_; }
  /// Returns the rate of the next step; a schedule gives its value at iterations(), or at the last
  /// of the batches that make this step (set_batches_per_step).
  DISTRIBUTE_INLINE virtual float learning_rate() const;
  /// Sets the number of batches whose mean gradient makes one step. Schedules then count batches,
  /// as in Keras; iterations() counts steps. compile() calls it.
  /// Source  gradient_accumulation_steps of tf.keras.optimizers.Optimizer
  virtual void set_batches_per_step(int64_t batches) { batches_per_step_ = batches; }
  /// Sets another number, or a schedule.
  /// Throws  FailedPreconditionError, as in Keras, for a number when the rate is a schedule.
  DISTRIBUTE_INLINE virtual void set_learning_rate(LearningRate rate);
  /// Checks that the rate may be set to a number.
  /// Throws  FailedPreconditionError that names `caller` when the rate is a schedule.
  DISTRIBUTE_INLINE virtual void require_settable_rate(const char* caller) const;
  const std::string& name() const { return options_.name; }
  /// Returns whether gradients are clipped before they are summed.
  bool clips_per_replica() const { return options_.clip_per_replica && clips(); }

  /// Returns the name under which deserialize() knows the class; empty when it does not.
  virtual std::string class_name() const { return ""; }
  /// All options, with the current learning rate, or its schedule as Keras writes it.
  /// Source  tf.keras.optimizers.Optimizer.get_config
  DISTRIBUTE_INLINE virtual OptimizerConfig get_config() const;

  /// Turns off weight decay for variables whose name contains one of the words, such as "bias".
  void exclude_from_weight_decay(std::vector<std::string> words);
  DISTRIBUTE_INLINE virtual void exclude_from_weight_decay(
      std::function<bool(const Variable&)> excluded);

  /// Multiplies the learning rate by `factor` for variables whose name contains one of the words,
  /// for instance to train the layers of a pretrained model more slowly. Factors of several rules
  /// multiply. It works only on the CPU.
  /// Throws  InvalidArgumentError for a factor that is negative or not finite.
  void multiply_learning_rate(std::vector<std::string> words, double factor);
  DISTRIBUTE_INLINE virtual void multiply_learning_rate(
      std::function<double(const Variable&)> factor);

  /// Exchanges the weights with their moving averages; a second call restores both.
  /// Throws  FailedPreconditionError without use_ema or before the first step.
  DISTRIBUTE_INLINE virtual void swap_averages(const std::vector<Variable>& variables);
  /// Returns whether the averages are in the place of the weights. Set it after restoring a
  /// checkpoint that was saved in this state.
  virtual bool averages_are_swapped() const { return averages_are_swapped_; }
  virtual void set_averages_are_swapped(bool swapped) { averages_are_swapped_ = swapped; }
  /// Overwrites the weights with their moving averages, also where swap_averages() has exchanged
  /// them; does nothing without use_ema and before the first step. Variables that no step has
  /// changed keep their values. `fit` calls it when training ends.
  /// Source  tf.keras.optimizers.Optimizer.finalize_variable_values
  DISTRIBUTE_INLINE virtual void finalize_variable_values(const std::vector<Variable>& variables);

  /// Moves the moving averages after a batch whose gradients are only collected for a later step
  /// (set_batches_per_step), as Keras does at every batch. Call it on every replica.
  DISTRIBUTE_INLINE virtual void move_averages(const std::vector<Variable>& variables);

  /// Creates step counts and slots of these variables now instead of at the first step. A variable
  /// may be new at any step: its slots then begin with zeros while the count of steps goes on, as
  /// in TensorFlow 1. Keras 3 refuses this ("Unknown variable").
  DISTRIBUTE_INLINE virtual void build(const std::vector<Variable>& variables);
  DISTRIBUTE_INLINE std::vector<NamedVariable> own_variables() const override;
  DISTRIBUTE_INLINE std::vector<SlotVariable> slot_variables() const override;
  bool built() const override { return all_slots().empty() || !slot_variables().empty(); }

 protected:
  struct WrapsAnother {};
  /// Serves optimizers that wrap another one and have no step count or rate of their own.
  Optimizer(WrapsAnother, std::string name);

  using Slot = SlotSpec;
  using ElementKernel = optim::ElementKernel;

  virtual std::vector<Slot> slots() const { return {}; }
  /// Returns the formula of step `step` (the first is 1).
  virtual ElementKernel kernel(float learning_rate, int64_t step) const = 0;
  /// Returns true when a zero gradient changes nothing, so that only the rows of IndexedSlices need
  /// work.
  virtual bool updates_rows_alone() const { return false; }
  /// Returns true when a step depends on more than one element of a variable. Then layer_ratios()
  /// is called with gradients that are summed over the replicas.
  virtual bool needs_whole_variables() const { return false; }
  /// Gives, for each update, a factor for the step that kernel() makes. The weights shrink by
  /// `decays` before the step.
  virtual std::vector<float> layer_ratios(const std::vector<VariableUpdate>& updates, int64_t step,
                                          const std::vector<float>& decays) const {
    (void)step, (void)decays;
    return std::vector<float>(updates.size(), 1.0f);
  }
  /// Adds the options that CommonOptions does not hold.
  virtual void add_config(OptimizerConfig& config) const { (void)config; }

 private:
  bool goes_straight(const ApplyOptions& options) const;
  int64_t apply_straight(ReplicaContext& replica, const std::vector<Tensor>& gradients,
                         const std::vector<Variable>& variables, const ApplyOptions& options);
  int64_t apply_prepared(ReplicaContext& replica, const std::vector<Tensor>& gradients,
                         const std::vector<Variable>& variables, const ApplyOptions& options);
  int64_t update(ReplicaContext& replica, std::vector<VariableUpdate>& updates, bool reduced,
                 const std::function<void(StepNumbers&)>& complete);
  void check_options() const;
  void check_whole(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables,
                   const replica_internal::GradientReducer& reducer) const;
  std::vector<VariableUpdate> collect(const std::vector<Tensor>& gradients,
                                      const std::vector<Variable>& variables,
                                      replica_internal::GradientReducer& reducer);
  void add_slots(std::vector<VariableUpdate>& updates, ReplicaContext* replica);
  int64_t record_update(RecordedStep& recording, ReplicaContext& replica,
                        const std::vector<VariableUpdate>& updates, bool are_reduced);
  std::vector<Slot> all_slots() const;  // slots(), and the average if there is one
  bool prepare(std::vector<VariableUpdate>& updates, ReplicaContext& replica,
               const ApplyOptions& options) const;
  void clip(std::vector<VariableUpdate>& updates) const;
  void densify(std::vector<VariableUpdate>& updates,
               const replica_internal::GradientReducer& reducer) const;
  StepNumbers step_of(const std::vector<VariableUpdate>& updates, int64_t done) const;
  void add_ratios(StepNumbers& step, const std::vector<VariableUpdate>& updates,
                  ReplicaContext& replica) const;
  UpdateKernel make_described_kernel(StepNumbers step) const;
  std::vector<optim_internal::VariableFormula> formulas_of(const StepNumbers& step) const;
  UpdateKernel make_kernel(StepNumbers step) const;
  UpdateDescription describe(StepNumbers step) const;
  std::string serialize() const;
  void check_serializable() const;  // throws without a class_name()
  OptimizerConfig own_config() const;
  friend std::string serialize(const Optimizer& optimizer);
  friend UpdateKernel make_update_kernel(const Optimizer& optimizer, StepNumbers step);
  bool decays(const Variable& variable) const;
  float rate_factor(const Variable& variable) const;
  bool clips() const { return options_.clipnorm || options_.clipvalue || options_.global_clipnorm; }
  friend class LossScaleOptimizer;  // its kernel is the wrapped optimizer's
  void average_others(const std::vector<VariableUpdate>& updates, ReplicaContext& replica,
                      int64_t done, int64_t step);
  void slot_created(const std::string& slot, const Variable& created, const Variable& weight);
  void exchange(const std::vector<Variable>& variables, bool keep_weights);

  CommonOptions options_;
  Variable iterations_, learning_rate_;
  std::vector<std::function<bool(const Variable&)>> excluded_;
  std::vector<std::function<double(const Variable&)>> factors_;
  SlotTable slots_;
  bool averages_are_swapped_ = false;
  int64_t batches_per_step_ = 1;
  bool warned_ = false;  // accessed by std::atomic_ref
  mutable std::once_flag described_;
  mutable std::string description_;  // what describe() gives servers, made once
};

}  // namespace distribute::optim
