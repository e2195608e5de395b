#pragma once
/// Averages gradients over all ranks, in the tape or in the optimizer.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/horovod/collectives.hpp>
#include <distribute/optim/optimizer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::hvd {

/// How DistributedOptimizer and DistributedGradientTape reduce gradients.
struct GradientOptions {
  Op op = Average;
  Compression compression = Compression::None;
  /// Divides the gradients by this factor before they are summed, and multiplies the sum by factor
  /// / size, which avoids overflow of 16-bit sums.
  double gradient_predivide_factor = 1;
  bool sparse_as_dense = false;  // IndexedSlices are made dense before they are reduced
  ProcessSet process_set = {};
};

}  // namespace distribute::hvd

namespace distribute::horovod_internal {

/// Reduces the gradients of one step after the other. Used by one thread.
class GradientReducer {
 public:
  /// `name` identifies the reducer and must be equal on all ranks. `transient` promises that the
  /// gradients of a step die before the next step.
  /// Throws  InvalidArgumentError for a factor with another op than Average, or one that is not
  ///         positive.
  GradientReducer(std::string name, const hvd::GradientOptions& options, bool transient = false);

  /// Drops what a failed step had begun.
  void begin_step() { begun_.clear(); }
  /// Begins the reduction of a gradient of this step, for variable `i`.
  void ready(size_t i, const Tensor& gradient, const Variable& variable);
  /// Reduces all gradients of the step, in order; an empty one stays empty. Reductions that ready()
  /// has begun are not begun again.
  std::vector<Tensor> reduce(const std::vector<Tensor>& gradients,
                             const std::vector<Variable>& variables);

  const hvd::GradientOptions& options() const { return options_; }

 private:
  hvd::AllreduceOptions options_of(size_t i, const Variable& variable) const;

  const std::string name_;
  const hvd::GradientOptions options_;
  const bool transient_;
  std::vector<hvd::Handle> begun_;  // handle of each variable's reduction
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
  /// Throws  InvalidArgumentError for wrong options, as GradientReducer does.
  explicit DistributedGradientTape(GradientTape& tape, const GradientOptions& options = {})
      : tape_(tape), reducer_("DistributedGradientTape", options) {}

  /// Gives d(target) / d(source), reduced over the ranks while the tape still computes other
  /// gradients. It is empty if the target does not depend on the source, which must be so on all
  /// ranks.
  /// Throws  what Handle::wait() and GradientTape::gradient() throw.
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
  bool average_aggregated_gradients = false;  // divides that sum by their number
  double gradient_predivide_factor = 1;       // see GradientOptions
  bool sparse_as_dense = false;
  ProcessSet process_set = {};
};

/// Wraps any optimizer, which must outlive it. Save the wrapped optimizer in checkpoints: they are
/// then the same with and without Horovod. Use it outside of strategies, as every rank has one
/// replica. Used by one thread.
/// Source  horovod.DistributedOptimizer
class DistributedOptimizer {
 public:
  /// Throws  InvalidArgumentError for fewer than one pass per step, a wrong factor, or an optimizer
  ///         with clip_per_replica.
  explicit DistributedOptimizer(optim::Optimizer& optimizer,
                                const DistributedOptimizerOptions& options = {});

  /// Reduces the gradients over the ranks, then makes one step. Returns the number of the step;
  /// before the last of backward_passes_per_step calls, the number of the step before.
  /// Throws  what Handle::wait() and Optimizer::apply_gradients() throw.
  int64_t apply_gradients(const std::vector<Tensor>& gradients,
                          const std::vector<Variable>& variables);
  /// Takes the gradients of `loss` from the tape, reduces them while the tape still computes
  /// others, and makes one step.
  int64_t minimize(const Tensor& loss, const std::vector<Variable>& variables, GradientTape& tape);

  /// Returns the wrapped optimizer, which has the steps and the learning rate.
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
