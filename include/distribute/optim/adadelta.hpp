#pragma once
/// Adadelta.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

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

/// a = rho a + (1 - rho) g^2, d = -g sqrt(b + epsilon) / sqrt(a + epsilon),
/// b = rho b + (1 - rho) d^2, w += rate d.
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

}  // namespace distribute::optim
