#pragma once
/// Adam whose step of each variable is as long as the variable: for large batches.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

struct LambOptions {  // options of Lamb
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "Lamb";
};

/// m += (g - m)(1 - beta_1), v += (g^2 - v)(1 - beta_2),
/// u = m / (1 - beta_1^t) / (sqrt(v / (1 - beta_2^t)) + epsilon),
/// w -= rate |w| / |u| u, with norms over the whole variable, and 1 for a ratio with a norm of 0.
/// Slots "momentum", "velocity". Sums over the replicas begin when all gradients are there. On the
/// CPU alone; variables that are cut into parts are refused.
/// Source  tf.keras.optimizers.Lamb; You et al. 2019
class Lamb : public Optimizer {
 public:
  explicit Lamb(EmptyBraces) : Lamb() {}
  explicit Lamb(LambOptions options = {});
  std::string class_name() const override { return "Lamb"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;
  bool needs_whole_variables() const override { return true; }
  DISTRIBUTE_INLINE std::vector<float> layer_ratios(
      const std::vector<VariableUpdate>& updates, int64_t step,
      const std::vector<float>& decays) const override;

 private:
  double beta_1_, beta_2_, epsilon_;
};

}  // namespace distribute::optim
