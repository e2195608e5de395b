#pragma once
/// Losses of regression, of margins and of distributions.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// mean(max(1 - y_true y_pred, 0)) over the last axis. Targets are -1 and 1; where all are 0 or 1,
/// 0 counts as -1.
/// Shapes  y_true and y_pred [batch..., d] -> [batch...].
/// Source  tf.keras.losses.hinge, squared_hinge
Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);

/// max(neg - pos + 1, 0): pos = sum(y_true y_pred), neg = max((1 - y_true) y_pred).
/// Shapes  y_true, 0 or 1, and y_pred [batch..., classes] -> [batch...].
/// Source  tf.keras.losses.categorical_hinge
Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);

/// These functions as objects. Source  tf.keras.losses.Hinge, SquaredHinge, CategoricalHinge
using Hinge = FunctionLoss<hinge>;
using SquaredHinge = FunctionLoss<squared_hinge>;
using CategoricalHinge = FunctionLoss<categorical_hinge>;

// Shapes of all following functions: y_true and y_pred [batch..., d] -> [batch...], the mean over
// the last axis. y_true may lack, or alone have, a last axis of size 1. They throw
// InvalidArgumentError for shapes that do not fit.

/// 100 |y_true - y_pred| / |y_true|.
/// Source  tf.keras.losses.mean_absolute_percentage_error
Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);

/// (log(y_true + 1) - log(y_pred + 1))^2; negative numbers count as 0.
/// Source  tf.keras.losses.mean_squared_logarithmic_error
Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);

/// error^2 / 2 up to |error| = delta, from there on the line delta |error| - delta^2 / 2.
/// Source  tf.keras.losses.huber
Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta);
Tensor huber(const Tensor& y_true, const Tensor& y_pred);  // delta 1

/// log(cosh(y_pred - y_true)).
/// Source  tf.keras.losses.log_cosh
Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);

/// Returns the negative cosine of the angle between both along `axis`, instead of a mean: -1 where
/// they point the same way.
/// Source  tf.keras.losses.cosine_similarity
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, int axis);
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred);  // the last axis

/// Source  tf.keras.losses.MeanAbsolutePercentageError, MeanSquaredLogarithmicError, LogCosh
using MeanAbsolutePercentageError = FunctionLoss<mean_absolute_percentage_error>;
using MeanSquaredLogarithmicError = FunctionLoss<mean_squared_logarithmic_error>;
using LogCosh = FunctionLoss<log_cosh>;

struct HuberOptions {  // options of Huber
  double delta = 1.0;
  Reduction reduction = Reduction::Auto;
};

/// huber() as an object, with delta 1 unless given. Source  tf.keras.losses.Huber
class Huber : public Loss {
 public:
  explicit Huber(EmptyBraces) : Huber() {}
  explicit Huber(HuberOptions options = {}) : Loss(options.reduction), delta_(options.delta) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  double delta_;
};

struct CosineSimilarityOptions {  // options of CosineSimilarity
  int axis = -1;
  Reduction reduction = Reduction::Auto;
};

/// cosine_similarity() as an object, along the last axis unless given. Source
/// tf.keras.losses.CosineSimilarity
class CosineSimilarity : public Loss {
 public:
  explicit CosineSimilarity(EmptyBraces) : CosineSimilarity() {}
  explicit CosineSimilarity(CosineSimilarityOptions options = {})
      : Loss(options.reduction), axis_(options.axis) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  int axis_;
};

/// sum(y_true log(y_true / y_pred)) over the last axis, both limited to [1e-7, 1].
/// Shapes  y_true and y_pred [batch..., d] -> [batch...]; like all losses here one of both may lack
///         a last axis of size 1.
/// Source  tf.keras.losses.kl_divergence
Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);

/// mean(y_pred - y_true log(y_pred + 1e-7)) over the last axis.
/// Shapes  as kl_divergence.
/// Source  tf.keras.losses.poisson
Tensor poisson(const Tensor& y_true, const Tensor& y_pred);

struct BinaryFocalOptions {  // options of binary focal losses
  bool apply_class_balancing = false;
  double alpha = 0.25;  // weight of class 1 with class balancing; class 0 has 1 - alpha
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};

/// Binary crossentropy, with each element multiplied by (1 - p)^gamma, where p is the probability
/// of the true class.
/// Shapes  y_true and y_pred [batch..., d] -> [batch...].
/// Source  tf.keras.losses.binary_focal_crossentropy; Lin et al. 2018
Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 BinaryFocalOptions options = {});

struct CategoricalFocalOptions {  // options of categorical focal losses
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
};

/// alpha times categorical crossentropy, each class times (1 - p)^gamma.
/// Shapes  y_true and y_pred [batch..., classes] -> [batch...].
/// Source  tf.keras.losses.categorical_focal_crossentropy
Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      CategoricalFocalOptions options = {});

/// These two functions as objects. Source  tf.keras.losses.KLDivergence, Poisson
using KLDivergence = FunctionLoss<kl_divergence>;
using Poisson = FunctionLoss<poisson>;

struct BinaryFocalLossOptions {  // options of BinaryFocalCrossentropy
  bool apply_class_balancing = false;
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::Auto;
};

/// binary_focal_crossentropy() as an object. Source  tf.keras.losses.BinaryFocalCrossentropy
class BinaryFocalCrossentropy : public Loss {
 public:
  explicit BinaryFocalCrossentropy(EmptyBraces) : BinaryFocalCrossentropy() {}
  explicit BinaryFocalCrossentropy(BinaryFocalLossOptions options = {})
      : Loss(options.reduction), options_{options.apply_class_balancing,
                                          options.alpha,
                                          options.gamma,
                                          options.from_logits,
                                          options.label_smoothing,
                                          options.axis} {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  BinaryFocalOptions options_;
};

struct CategoricalFocalLossOptions {  // options of CategoricalFocalCrossentropy
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::Auto;
};

/// y_true: a probability per class. Source  tf.keras.losses.CategoricalFocalCrossentropy
class CategoricalFocalCrossentropy : public Loss {
 public:
  explicit CategoricalFocalCrossentropy(EmptyBraces) : CategoricalFocalCrossentropy() {}
  explicit CategoricalFocalCrossentropy(CategoricalFocalLossOptions options = {})
      : Loss(options.reduction),
        options_{options.alpha, options.gamma, options.from_logits, options.label_smoothing,
                 options.axis} {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CategoricalFocalOptions options_;
};

}  // namespace distribute::nn
