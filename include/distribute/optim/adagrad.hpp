#pragma once
/// Adagrad.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
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

/// a += g^2, w -= rate g / sqrt(a + epsilon). Slot "accumulator".
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

}  // namespace distribute::optim
