#pragma once
/// Gradient descent, with momentum.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0.0;
  bool nesterov = false;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "SGD";
};

/// w -= rate g; with momentum v = momentum v - rate g, w += v, or with Nesterov's
/// w += momentum v - rate g.
/// Source  tf.keras.optimizers.SGD
class SGD : public Optimizer {
 public:
  explicit SGD(SGDOptions options = {});

 protected:
  std::vector<Slot> slots() const override;
  ElementKernel kernel(float learning_rate, int64_t step) const override;
  GpuFormula gpu_formula(float learning_rate, int64_t step) const override;
  bool updates_rows_alone() const override { return momentum_ == 0.0f; }

 private:
  float momentum_;
  bool nesterov_;
};

}  // namespace distribute::optim

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/optim/impl/sgd.ipp>
#endif
