#pragma once
/// LAMB, Lion and FTRL.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
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

/// Computes m += (g - m)(1 - beta_1), v += (g^2 - v)(1 - beta_2),
/// u = m / (1 - beta_1^t) / (sqrt(v / (1 - beta_2^t)) + epsilon),
/// w -= rate |w| / |u| u, with norms over the whole variable, and 1 for a ratio with a norm of 0.
/// Slots "momentum", "velocity". Sums over the replicas begin when all gradients are there. It runs
/// only on the CPU, and refuses variables that are cut into parts.
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

struct LionOptions {  // options of Lion
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "Lion";
};

/// Computes w -= rate sign(beta_1 m + (1 - beta_1) g), then m = beta_2 m + (1 - beta_2) g.
/// Slot "m".
/// Throws  InvalidArgumentError for a beta_1 outside of (0, 1].
/// Source  tf.keras.optimizers.Lion; Chen et al. 2023
class Lion : public Optimizer {
 public:
  explicit Lion(EmptyBraces) : Lion() {}
  explicit Lion(LionOptions options = {});
  std::string class_name() const override { return "Lion"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double beta_1_, beta_2_;
};

struct FtrlOptions {  // options of Ftrl
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0.0;
  double l2_regularization_strength = 0.0;
  double l2_shrinkage_regularization_strength = 0.0;
  double beta = 0.0;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "Ftrl";
};

/// Computes, with p = -learning_rate_power, s the shrinkage strength, n' = n + g^2 and
/// l2 = l2_regularization_strength + beta / (2 rate):
///   z += g + 2 s w - w (n'^p - n^p) / rate
///   w = (clip(z, -l1, l1) - z) / (n'^p / rate + 2 l2)
/// Slots "accumulator" (n), "linear" (z).
/// Throws  InvalidArgumentError for a negative strength or accumulator, and a positive power.
/// Source  tf.keras.optimizers.Ftrl; McMahan et al. 2013
class Ftrl : public Optimizer {
 public:
  explicit Ftrl(EmptyBraces) : Ftrl() {}
  explicit Ftrl(FtrlOptions options = {});
  std::string class_name() const override { return "Ftrl"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double learning_rate_power_, initial_accumulator_value_, l1_regularization_strength_,
      l2_regularization_strength_, l2_shrinkage_regularization_strength_, beta_;
};

}  // namespace distribute::optim
