#pragma once
/// Losses between numbers: of each example, and as objects.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

// Shapes of all: y_true and y_pred [batch..., d] -> [batch...], the mean over the last axis. y_true
// may lack, or have alone, a last axis of size 1. They throw InvalidArgumentError for shapes that
// do not fit.

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

/// The negative cosine of the angle between both along `axis`, instead of a mean: -1 where they
/// point the same way.
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

/// Along the last axis unless given. Source  tf.keras.losses.CosineSimilarity
class CosineSimilarity : public Loss {
 public:
  explicit CosineSimilarity(EmptyBraces) : CosineSimilarity() {}
  explicit CosineSimilarity(CosineSimilarityOptions options = {})
      : Loss(options.reduction), axis_(options.axis) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  int axis_;
};

}  // namespace distribute::nn
