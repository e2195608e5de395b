#pragma once
/// Adam, and its form with decoupled weight decay.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/optim/optimizer.hpp>

namespace distribute::optim {

struct AdamOptions {  // options of Adam
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> weight_decay = {};
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "Adam";
};

/// m += (g - m)(1 - beta_1), v += (g^2 - v)(1 - beta_2),
/// w -= m alpha / (sqrt(v) + epsilon) with alpha = rate sqrt(1 - beta_2^t) / (1 - beta_1^t).
/// Slots "m", "v" and, with amsgrad, "vhat".
/// Source  tf.keras.optimizers.Adam; Kingma & Ba 2014
class Adam : public Optimizer {
 public:
  explicit Adam(EmptyBraces) : Adam() {}
  explicit Adam(AdamOptions options = {});
  std::string class_name() const override { return "Adam"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double beta_1_, beta_2_, epsilon_;
  bool amsgrad_;
};

struct AdamWOptions {  // options of AdamW
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = 0.004;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  std::optional<double> clipnorm = {};
  std::optional<double> clipvalue = {};
  std::optional<double> global_clipnorm = {};
  bool clip_per_replica = false;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  std::string name = "AdamW";
};

/// Adam after w -= w * weight_decay * rate.
/// Source  tf.keras.optimizers.AdamW; Loshchilov & Hutter 2017
class AdamW : public Adam {
 public:
  explicit AdamW(EmptyBraces) : AdamW() {}
  explicit AdamW(AdamWOptions options = {});
  std::string class_name() const override { return "AdamW"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);
};

}  // namespace distribute::optim
