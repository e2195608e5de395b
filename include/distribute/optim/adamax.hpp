#pragma once
/// Adam with the largest gradient instead of the mean square.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

struct AdamaxOptions {  // options of Adamax
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
  std::string name = "Adamax";
};

/// m += (g - m)(1 - beta_1), u = max(beta_2 u, |g|), w -= rate m / ((1 - beta_1^t)(u + epsilon)).
/// Slots "m", "u".
/// Source  tf.keras.optimizers.Adamax; Kingma & Ba 2014
class Adamax : public Optimizer {
 public:
  explicit Adamax(EmptyBraces) : Adamax() {}
  explicit Adamax(AdamaxOptions options = {});
  std::string class_name() const override { return "Adamax"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double beta_1_, beta_2_, epsilon_;
};

}  // namespace distribute::optim
