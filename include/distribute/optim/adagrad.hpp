#pragma once
/// Optimizers that divide by a history of squared gradients: Adagrad, Adadelta, RMSprop.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

struct AdagradOptions {  // options of Adagrad
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "Adagrad";
};

/// Computes a += g^2, w -= rate g / sqrt(a + epsilon). Slot "accumulator".
/// Source  tf.keras.optimizers.Adagrad; Duchi et al. 2011
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(EmptyBraces) : Adagrad() {}
  /// Throws  InvalidArgumentError for a negative initial value.
  explicit Adagrad(AdagradOptions options = {});
  std::string class_name() const override { return "Adagrad"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  bool updates_rows_alone() const override { return true; }
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double initial_, epsilon_;
};

struct AdadeltaOptions {  // options of Adadelta
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "Adadelta";
};

/// Computes a = rho a + (1 - rho) g^2, d = -g sqrt(b + epsilon) / sqrt(a + epsilon), b = rho b + (1
/// - rho) d^2, w += rate d.
/// Slots "accum_grad" (a), "accum_var" (b).
/// Source  tf.keras.optimizers.Adadelta; Zeiler 2012
class Adadelta : public Optimizer {
 public:
  explicit Adadelta(EmptyBraces) : Adadelta() {}
  explicit Adadelta(AdadeltaOptions options = {});
  std::string class_name() const override { return "Adadelta"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double rho_, epsilon_;
};

struct RMSpropOptions {  // options of RMSprop
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0.0;
  double epsilon = 1e-7;
  bool centered = false;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "RMSprop";
};

/// Computes v = rho v + (1 - rho) g^2, w -= rate g / sqrt(v + epsilon). With momentum the steps are
/// added up first; `centered` subtracts the square of the mean gradient from v.
/// Slots "rms", with momentum "momentum", centered "mg".
/// Source  tf.keras.optimizers.RMSprop
class RMSprop : public Optimizer {
 public:
  explicit RMSprop(EmptyBraces) : RMSprop() {}
  explicit RMSprop(RMSpropOptions options = {});
  std::string class_name() const override { return "RMSprop"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double rho_, momentum_, epsilon_;
  bool centered_;
};

}  // namespace distribute::optim
