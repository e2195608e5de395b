#pragma once
/// Follow the regularized leader: sparse weights by an L1 penalty.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

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

/// With p = -learning_rate_power, s the shrinkage strength, n' = n + g^2 and
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
