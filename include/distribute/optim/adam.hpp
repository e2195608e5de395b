#pragma once
/// Adam and the optimizers derived from it: AdamW, Adamax, Nadam.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
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

/// Computes m += (g - m)(1 - beta_1), v += (g^2 - v)(1 - beta_2),
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

/// Computes w -= w * weight_decay * rate, then Adam's step.
/// Source  tf.keras.optimizers.AdamW; Loshchilov & Hutter 2017
class AdamW : public Adam {
 public:
  explicit AdamW(EmptyBraces) : AdamW() {}
  explicit AdamW(AdamWOptions options = {});
  std::string class_name() const override { return "AdamW"; }
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);
};

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

/// Computes m += (g - m)(1 - beta_1), u = max(beta_2 u, |g|), w -= rate m / ((1 - beta_1^t)(u +
/// epsilon)).
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

struct NadamOptions {  // options of Nadam
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
  std::string name = "Nadam";
};

/// Computes, with u_t = beta_1 (1 - 0.96^t / 2) and U_t the product of u_1 ... u_t:
///   m += (g - m)(1 - beta_1), v += (g^2 - v)(1 - beta_2)
///   m^ = u_{t+1} m / (1 - U_{t+1}) + (1 - u_t) g / (1 - U_t)
///   w -= rate m^ / (sqrt(v / (1 - beta_2^t)) + epsilon)
/// Slots "m", "v".
/// Source  tf.keras.optimizers.Nadam; Dozat 2015
class Nadam : public Optimizer {
 public:
  explicit Nadam(EmptyBraces) : Nadam() {}
  explicit Nadam(NadamOptions options = {});
  std::string class_name() const override { return "Nadam"; }
  /// U_t of the last step, 1 before the first; Keras keeps it in a variable.
  float momentum_product() const;
  static std::unique_ptr<Optimizer> from_config(const OptimizerConfig& config);

 protected:
  DISTRIBUTE_INLINE std::vector<Slot> slots() const override;
  DISTRIBUTE_INLINE ElementKernel kernel(float learning_rate, int64_t step) const override;
  DISTRIBUTE_INLINE void add_config(OptimizerConfig& config) const override;

 private:
  double beta_1_, beta_2_, epsilon_;
};

}  // namespace distribute::optim
