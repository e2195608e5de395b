#pragma once
/// Losses between distributions beside the crossentropies: of each example, and as objects.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// sum(y_true log(y_true / y_pred)) over the last axis, both limited to [1e-7, 1].
/// Shapes  y_true and y_pred [batch..., d] -> [batch...].
/// Source  tf.keras.losses.kl_divergence
Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);

/// mean(y_pred - y_true log(y_pred + 1e-7)) over the last axis.
/// Shapes  as kl_divergence.
/// Source  tf.keras.losses.poisson
Tensor poisson(const Tensor& y_true, const Tensor& y_pred);

struct BinaryFocalOptions {  // of binary focal losses
  bool apply_class_balancing = false;
  double alpha = 0.25;  // weight of class 1 with class balancing, 1 - alpha that of class 0
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0;
};

/// Binary crossentropy, each element times (1 - p)^gamma with p the probability of what is true.
/// Shapes  y_true and y_pred [batch..., d] -> [batch...].
/// Source  tf.keras.losses.binary_focal_crossentropy; Lin et al. 2018
Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 BinaryFocalOptions options = {});

struct CategoricalFocalOptions {  // of focal losses
  double alpha = 0.25;
  double gamma = 2.0;
  bool from_logits = false;
  double label_smoothing = 0;
};

/// alpha times categorical crossentropy, each class times (1 - p)^gamma.
/// Shapes  y_true and y_pred [batch..., classes] -> [batch...].
/// Source  tf.keras.losses.categorical_focal_crossentropy
Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      CategoricalFocalOptions options = {});

/// These two functions as objects. Source  tf.keras.losses.KLDivergence, Poisson
using KLDivergence = FunctionLoss<kl_divergence>;
using Poisson = FunctionLoss<poisson>;

/// binary_focal_crossentropy() as an object. Source  tf.keras.losses.BinaryFocalCrossentropy
class BinaryFocalCrossentropy : public Loss {
 public:
  explicit BinaryFocalCrossentropy(EmptyBraces) : BinaryFocalCrossentropy() {}
  explicit BinaryFocalCrossentropy(BinaryFocalOptions options = {},
                                   Reduction reduction = Reduction::Auto)
      : Loss(reduction), options_(options) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  BinaryFocalOptions options_;
};

/// y_true: a probability per class. Source  tf.keras.losses.CategoricalFocalCrossentropy
class CategoricalFocalCrossentropy : public Loss {
 public:
  explicit CategoricalFocalCrossentropy(EmptyBraces) : CategoricalFocalCrossentropy() {}
  explicit CategoricalFocalCrossentropy(CategoricalFocalOptions options = {},
                                        Reduction reduction = Reduction::Auto)
      : Loss(reduction), options_(options) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CategoricalFocalOptions options_;
};

}  // namespace distribute::nn
