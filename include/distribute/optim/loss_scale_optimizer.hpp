#pragma once
/// Scales the loss so that float16 gradients neither vanish nor overflow.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace distribute::optim {

struct LossScaleOptimizerOptions {      // options of LossScaleOptimizer
  bool dynamic = true;                  // false: the scale stays and no step is skipped
  double initial_scale = 32768;         // 2 ^ 15
  int64_t dynamic_growth_steps = 2000;  // finite steps in a row until the scale doubles
  std::string name = {};
};

/// Wraps another optimizer, which must outlive it unless it is handed over. The loss is multiplied
/// by a scale before the gradients are computed, and the gradients are divided by it afterwards. A
/// step whose gradients are not finite on some replica changes no weight, halves the scale and does
/// not count as an iteration. As in Keras, the gradients of the scaled loss are what must be
/// finite, and with several batches in a step (set_batches_per_step) that of each batch: such a
/// batch alone is left out. Everything else is done by the wrapped optimizer. The rules for threads
/// are Optimizer's. The scale and the number of good steps are variables, so create it in the
/// strategy's scope.
/// Source  tf.keras.mixed_precision.LossScaleOptimizer; Micikevicius et al. 2018
class LossScaleOptimizer : public Optimizer {
 public:
  /// Throws  InvalidArgumentError for a scale or a number of steps that is not positive, and for an
  ///         optimizer with clip_per_replica, since scaled gradients must be summed first.
  explicit LossScaleOptimizer(Optimizer& inner, LossScaleOptimizerOptions options = {});
  /// Wraps an optimizer that it owns.
  explicit LossScaleOptimizer(std::unique_ptr<Optimizer> inner,
                              LossScaleOptimizerOptions options = {});
  /// Throws  InvalidArgumentError without an "inner_optimizer".
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

  DISTRIBUTE_INLINE Tensor scale_loss(const Tensor& loss) const override;
  /// Applies gradients of the scaled loss. Gives the number of the step; 0 when it was skipped.
  /// Blocks, throws  as Optimizer::apply_gradients.
  DISTRIBUTE_INLINE int64_t apply_gradients(const std::vector<Tensor>& gradients,
                                            const std::vector<Variable>& variables,
                                            ApplyOptions options = {}) override;
  /// Takes the gradients of `loss`, which is not scaled, from the tape and applies them. Unlike
  /// Optimizer::minimize it sums them only when all are complete, as the step may be skipped.
  DISTRIBUTE_INLINE int64_t minimize(const Tensor& loss, const std::vector<Variable>& variables,
                                     GradientTape& tape, ApplyOptions options = {}) override;

  /// Divides the gradients of one of the batches that make a step by the scale, which it moves as
  /// after a step. Returns false when they are not finite on some replica: leave the batch out.
  /// Give the mean of the other batches to inner_optimizer().
  /// Blocks  until every replica has called it.
  DISTRIBUTE_INLINE bool unscale_batch(std::vector<Tensor>& gradients);

  /// Returns the current scale, and the wrapped optimizer.
  float loss_scale() const;
  Optimizer& inner_optimizer() const { return inner_; }

  const Variable& iterations_variable() const override { return inner_.iterations_variable(); }
  float learning_rate() const override { return inner_.learning_rate(); }
  void set_batches_per_step(int64_t batches) override { inner_.set_batches_per_step(batches); }
  void set_learning_rate(LearningRate rate) override { inner_.set_learning_rate(std::move(rate)); }
  void require_settable_rate(const char* caller) const override {
    inner_.require_settable_rate(caller);
  }
  std::string class_name() const override { return "LossScaleOptimizer"; }
  /// Keras's form: name, "inner_optimizer" with the configuration of the wrapped optimizer,
  /// initial_scale and dynamic_growth_steps; beside it "dynamic" where that is false, which Keras 3
  /// does not have.
  DISTRIBUTE_INLINE OptimizerConfig get_config() const override;
  using Optimizer::exclude_from_weight_decay;
  void exclude_from_weight_decay(std::function<bool(const Variable&)> excluded) override {
    inner_.exclude_from_weight_decay(std::move(excluded));
  }
  using Optimizer::multiply_learning_rate;
  void multiply_learning_rate(std::function<double(const Variable&)> factor) override {
    inner_.multiply_learning_rate(std::move(factor));
  }
  void swap_averages(const std::vector<Variable>& variables) override {
    inner_.swap_averages(variables);
  }
  bool averages_are_swapped() const override { return inner_.averages_are_swapped(); }
  void set_averages_are_swapped(bool swapped) override { inner_.set_averages_are_swapped(swapped); }
  void finalize_variable_values(const std::vector<Variable>& variables) override {
    inner_.finalize_variable_values(variables);
  }
  void move_averages(const std::vector<Variable>& variables) override {
    inner_.move_averages(variables);
  }
  void build(const std::vector<Variable>& variables) override { inner_.build(variables); }

  DISTRIBUTE_INLINE std::vector<NamedVariable> own_variables() const override;
  DISTRIBUTE_INLINE std::vector<Child> children() const override;
  bool built() const override { return inner_.built(); }

 protected:
  ElementKernel kernel(float learning_rate, int64_t step) const override {
    return inner_.kernel(learning_rate, step);
  }

 private:
  std::vector<Tensor> unscaled(const std::vector<Tensor>& gradients) const;
  void finish_step(bool finite, ReplicaContext& replica);

  std::unique_ptr<Optimizer> owned_;  // null: the program's own
  Optimizer& inner_;
  const LossScaleOptimizerOptions options_;
  Variable good_steps_, scale_;
};

}  // namespace distribute::optim
