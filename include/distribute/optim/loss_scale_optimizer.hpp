#pragma once
/// Scales the loss so that float16 gradients neither vanish nor overflow.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer.hpp>

#include <vector>

namespace distribute::optim {

struct LossScaleOptimizerOptions {      // options of LossScaleOptimizer
  bool dynamic = true;                  // false: the scale stays and no step is left out
  double initial_scale = 32768;         // 2 ^ 15
  int64_t dynamic_growth_steps = 2000;  // finite steps in a row until the scale doubles
};

/// Wraps another optimizer, which must outlive it. The loss is multiplied by a scale before the
/// gradients and these are divided by it after; a step whose gradients, summed over all replicas,
/// are not finite changes no weight and halves the scale. Threads as for Optimizer. The scale and
/// the number of good steps are variables, so create it in the strategy's scope.
/// Source  tf.keras.mixed_precision.LossScaleOptimizer; Micikevicius et al. 2018
class LossScaleOptimizer : public Trackable {
 public:
  /// Throws  InvalidArgumentError for a scale or a number of steps that is not positive, and for
  ///         an optimizer with clip_per_replica: the scaled gradients are summed first.
  explicit LossScaleOptimizer(Optimizer& inner, LossScaleOptimizerOptions options = {});

  /// What to take gradients of instead of `loss`.
  Tensor scale_loss(const Tensor& loss) const;
  /// One step with gradients of the scaled loss. Gives its number, 0 when it was left out.
  /// Blocks, throws  as Optimizer::apply_gradients.
  int64_t apply_gradients(const std::vector<Tensor>& gradients,
                          const std::vector<Variable>& variables, ApplyOptions options = {});
  /// Gradients of `loss`, which is not scaled, from the tape, then one step. Unlike
  /// Optimizer::minimize it sums them after all are complete: the step may be left out.
  int64_t minimize(const Tensor& loss, const std::vector<Variable>& variables, GradientTape& tape,
                   ApplyOptions options = {});

  /// The current scale, and the optimizer inside.
  float loss_scale() const;
  Optimizer& inner_optimizer() const { return inner_; }
  /// Steps that changed the weights; those left out for infinite gradients do not count.
  int64_t iterations() const { return inner_.iterations(); }

  DISTRIBUTE_INLINE std::vector<NamedVariable> own_variables() const override;
  DISTRIBUTE_INLINE std::vector<Child> children() const override;

 private:
  void finish_step(bool finite, ReplicaContext& replica);

  Optimizer& inner_;
  const LossScaleOptimizerOptions options_;
  Variable good_steps_, scale_;
};

}  // namespace distribute::optim
