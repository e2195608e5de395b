#pragma once
/// Gradient descent with momentum.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

struct SGDOptions {  // options of SGD
  LearningRate learning_rate = 0.01;
  double momentum = 0.0;
  bool nesterov = false;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "SGD";
  // Adds w * coupled_weight_decay to the gradient after clipping, as Goyal et al. 2017 do, so that
  // momentum and learning rate apply to the decay. Variables excluded from weight_decay are
  // excluded here, too.
  std::optional<double> coupled_weight_decay = {};
};

/// Computes w -= rate g; with momentum v = momentum v - rate g, w += v, or with Nesterov's w +=
/// momentum v - rate g.
/// Source  tf.keras.optimizers.SGD
class SGD : public Optimizer {
 public:
  explicit SGD(EmptyBraces) : SGD() {}
  explicit SGD(SGDOptions options = {});
  std::string class_name() const override { return "SGD"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  bool updates_rows_alone() const override { return momentum_ == 0.0; }
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double momentum_;
  bool nesterov_;
};

}  // namespace distribute::optim
