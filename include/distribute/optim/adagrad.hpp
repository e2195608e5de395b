#pragma once
/// Adagrad.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "Adagrad";
};

/// a += g^2, w -= rate g / sqrt(a + epsilon). Slot "accumulator".
/// Source  tf.keras.optimizers.Adagrad; Duchi et al. 2011
class Adagrad : public Optimizer {
 public:
  /// Throws  InvalidArgumentError for a negative initial value.
  explicit Adagrad(AdagradOptions options = {});

 protected:
  std::vector<Slot> slots() const override;
  ElementKernel kernel(float learning_rate, int64_t step) const override;
  GpuFormula gpu_formula(float learning_rate, int64_t step) const override;
  bool updates_rows_alone() const override { return true; }

 private:
  double initial_, epsilon_;
};

}  // namespace distribute::optim

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/optim/impl/adagrad.ipp>
#endif
