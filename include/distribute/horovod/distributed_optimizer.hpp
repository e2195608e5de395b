#pragma once
/// Gradients that are averaged over all ranks: by the tape or by the optimizer.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/optim/optimizer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::hvd {

/// How DistributedOptimizer and DistributedGradientTape reduce.
struct GradientOptions {
  Op op = Average;
  Compression compression = Compression::None;
  /// An average becomes a sum of gradients divided by this, which is then multiplied by
  /// this / size: against overflow of 16-bit sums.
  double gradient_predivide_factor = 1;
  bool sparse_as_dense = false;  // IndexedSlices are reduced as dense tensors
  ProcessSet process_set = {};
};

}  // namespace distribute::hvd

namespace distribute::horovod_internal {

/// Reduces the gradients of one step after the other. One thread.
class GradientReducer {
 public:
  /// `name` tells reducers apart, in the same way on all ranks.
  /// `transient`: the gradients of a step are gone before the next.
  /// Throws  InvalidArgumentError for a factor with another op than Average, or that is not
  ///         positive.
  GradientReducer(std::string name, const hvd::GradientOptions& options, bool transient = false);

  /// Forgets what a step that failed had begun.
  void begin_step() { begun_.clear(); }
  /// Begins with a gradient of this step, that of variable `i`.
  void ready(size_t i, const Tensor& gradient, const Variable& variable);
  /// All gradients of the step, reduced, in order; none stays none. What ready() was told is not
  /// begun again.
  std::vector<Tensor> reduce(const std::vector<Tensor>& gradients,
                             const std::vector<Variable>& variables);

  const hvd::GradientOptions& options() const { return options_; }

 private:
  hvd::AllreduceOptions options_of(size_t i, const Variable& variable) const;

  const std::string name_;
  const hvd::GradientOptions options_;
  const bool transient_;
  std::vector<hvd::Handle> begun_;  // by variable
};

}  // namespace distribute::horovod_internal

namespace distribute::hvd {

/// Wraps a tape, which must outlive it. Apply its gradients with a plain optimizer:
///   GradientTape tape;
///   ... loss ...
///   hvd::DistributedGradientTape distributed(tape);
///   optimizer.apply_gradients(distributed.gradient(loss, variables), variables);
/// Source  horovod.DistributedGradientTape
class DistributedGradientTape {
 public:
  /// Throws  as GradientReducer.
  explicit DistributedGradientTape(GradientTape& tape, const GradientOptions& options = {})
      : tape_(tape), reducer_("DistributedGradientTape", options) {}

  /// d(target) / d(source), reduced over the ranks, while the tape still computes others; none
  /// when unconnected, which must be the same on all ranks.
  /// Throws  as Handle::wait() and GradientTape::gradient.
  std::vector<Tensor> gradient(const Tensor& target, const std::vector<Variable>& sources);
  Tensor gradient(const Tensor& target, const Variable& source);

 private:
  GradientTape& tape_;
  horovod_internal::GradientReducer reducer_;
};

struct DistributedOptimizerOptions {  // options of DistributedOptimizer
  Op op = Average;
  Compression compression = Compression::None;
  /// Number of calls whose gradients are added up before they are reduced and applied.
  int64_t backward_passes_per_step = 1;
  bool average_aggregated_gradients = false;  // divide that sum by their number
  double gradient_predivide_factor = 1;       // as of GradientOptions
  bool sparse_as_dense = false;
  ProcessSet process_set = {};
};

/// Wraps any optimizer, which must outlive it and belongs into checkpoints: these are the same
/// with and without Horovod. Outside of strategies, as every rank has one replica. One thread.
/// Source  horovod.DistributedOptimizer
class DistributedOptimizer {
 public:
  /// Throws  InvalidArgumentError for fewer than one pass per step, a wrong factor, or an optimizer
  ///         with clip_per_replica.
  explicit DistributedOptimizer(optim::Optimizer& optimizer,
                                const DistributedOptimizerOptions& options = {});

  /// Reduces the gradients over the ranks, then one step. Gives its number; before the last of
  /// backward_passes_per_step that of the step before.
  /// Throws  as Handle::wait(), and Optimizer::apply_gradients.
  int64_t apply_gradients(const std::vector<Tensor>& gradients,
                          const std::vector<Variable>& variables);
  /// Gradients of `loss` from the tape, reduced while the tape still computes others; then one
  /// step.
  int64_t minimize(const Tensor& loss, const std::vector<Variable>& variables, GradientTape& tape);

  /// The optimizer inside; steps and learning rate are its own.
  optim::Optimizer& inner_optimizer() const { return inner_; }
  int64_t iterations() const { return inner_.iterations(); }
  float learning_rate() const { return inner_.learning_rate(); }
  void set_learning_rate(optim::LearningRate rate) { inner_.set_learning_rate(std::move(rate)); }

 private:
  bool adds_up(const std::vector<Tensor>& gradients);

  optim::Optimizer& inner_;
  const DistributedOptimizerOptions options_;
  horovod_internal::GradientReducer reducer_;
  std::vector<Tensor> sums_;
  int64_t passes_ = 0;
};

}  // namespace distribute::hvd
