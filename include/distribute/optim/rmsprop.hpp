#pragma once
/// RMSprop.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

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

/// v = rho v + (1 - rho) g^2, w -= rate g / sqrt(v + epsilon); with momentum the step is added up
/// first; centered subtracts the square of the mean gradient from v.
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
