#pragma once
/// Steps by the sign of a momentum.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

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

/// w -= rate sign(beta_1 m + (1 - beta_1) g), then m = beta_2 m + (1 - beta_2) g.
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

}  // namespace distribute::optim
