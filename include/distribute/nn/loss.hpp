#pragma once
/// Losses as objects: a loss of each example, weighted and reduced.

#include <distribute/base/config.hpp>
#include <distribute/nn/losses.hpp>

namespace distribute::nn {

/// Auto is SumOverBatchSize. With several replicas only None and Sum are allowed: divide by the
/// GLOBAL batch size, as compute_average_loss does.
/// Source  tf.keras.losses.Reduction
enum class Reduction { Auto, None, Sum, SumOverBatchSize };

/// Thread-safe.
/// Source  tf.keras.losses.Loss
class Loss {
 public:
  virtual ~Loss() = default;
  /// Shapes  sample_weight as the losses of the examples, or a scalar; may be none.
  /// Throws  InvalidArgumentError for Auto and SumOverBatchSize where a strategy has more than one
  ///         replica, and in cross-replica context.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  /// The loss of each example, not weighted and not reduced.
  Tensor per_example(const Tensor& y_true, const Tensor& y_pred) const {
    return call(y_true, y_pred);
  }
  Reduction reduction() const { return reduction_; }

 protected:
  explicit Loss(Reduction reduction) : reduction_(reduction) {}
  Loss(const Loss&) = default;
  Loss& operator=(const Loss&) = default;
  /// The loss of each example.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;

 private:
  Reduction reduction_;
};

struct LossOptions {
  Reduction reduction = Reduction::Auto;
};
struct CrossentropyLossOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  Reduction reduction = Reduction::Auto;
};

/// Source  tf.keras.losses.SparseCategoricalCrossentropy
class SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(CrossentropyLossOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CrossentropyOptions options_;
};

/// Source  tf.keras.losses.CategoricalCrossentropy
class CategoricalCrossentropy : public Loss {
 public:
  explicit CategoricalCrossentropy(CrossentropyLossOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CrossentropyOptions options_;
};

/// Source  tf.keras.losses.BinaryCrossentropy
class BinaryCrossentropy : public Loss {
 public:
  explicit BinaryCrossentropy(CrossentropyLossOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CrossentropyOptions options_;
};

/// Source  tf.keras.losses.MeanSquaredError
class MeanSquaredError : public Loss {
 public:
  explicit MeanSquaredError(LossOptions options = {}) : Loss(options.reduction) {}

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
};

}  // namespace distribute::nn
