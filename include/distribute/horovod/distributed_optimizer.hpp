#pragma once
/// An optimizer whose steps take the gradients of all ranks.

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/config.hpp>
#include <distribute/horovod/gradient_reducer.hpp>
#include <distribute/optim/optimizer.hpp>

#include <cstdint>
#include <vector>

namespace distribute::hvd {

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

  /// Those of the optimizer inside.
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
