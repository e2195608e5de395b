#pragma once
/// The class Loss, the cross entropies, and the mean errors.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute::nn {

/// Options of losses of classes. Predictions that a layer has made by softmax or sigmoid have their
/// logits with them, and the loss is that of the logits, whatever from_logits says, as in Keras 3.
struct CrossentropyOptions {
  bool from_logits = false;    // predictions are logits instead of probabilities
  double label_smoothing = 0;  // s: targets become (1 - s) y + s / classes
};

/// -log(probability of the true class).
/// Shapes  y_true integer [batch...], or [batch..., 1]; y_pred [batch..., classes] -> [batch...].
/// Source  tf.keras.losses.sparse_categorical_crossentropy
Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       CrossentropyOptions options = {});

/// Shapes  y_true and y_pred [batch..., classes] -> [batch...].
/// Source  tf.keras.losses.categorical_crossentropy
Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                CrossentropyOptions options = {});

/// Mean over the last axis. Smoothing: (1 - s) y + s / 2.
/// Shapes  y_true and y_pred [batch..., d] -> [batch...].
/// Source  tf.keras.losses.binary_crossentropy
Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           CrossentropyOptions options = {});

/// Mean over the last axis. Shapes as binary_crossentropy; y_true may lack, or have alone, a last
/// axis of size 1.
/// Throws  InvalidArgumentError for shapes that do not fit.
/// Source  tf.keras.losses.mean_squared_error, mean_absolute_error
Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);

/// sum(per_example_loss * sample_weight) / global_batch_size: each replica's share of the mean
/// over the global batch, to be summed over replicas. Without a size: the number of examples here
/// times the number of replicas. Integers become float32.
/// Shapes  per_example_loss [batch, ...]; sample_weight as in Loss.
/// Throws  FailedPreconditionError in cross-replica context; InvalidArgumentError for a size < 1, a
///         loss that is one number, and weights that do not fit.
/// Source  tf.nn.compute_average_loss
Tensor compute_average_loss(const Tensor& per_example_loss,
                            std::optional<int64_t> global_batch_size = {},
                            const Tensor& sample_weight = {});

/// The sum of `losses` divided by the number of replicas, as every replica adds the same terms.
/// Throws  FailedPreconditionError in cross-replica context.
/// Source  tf.nn.scale_regularization_loss
Tensor scale_regularization_loss(const Tensor& loss);
Tensor scale_regularization_loss(const std::vector<Tensor>& losses);

/// Auto is SumOverBatchSize: the mean over this replica's examples divided by the number of
/// replicas of the strategy that the thread is in, as in Keras 3. Summed over replicas that is the
/// mean over the global batch where all replicas have the same number of examples;
/// compute_average_loss divides by the global batch size itself. Mean is the same.
/// MeanWithSampleWeight divides by the sum of the sample weights, as they were given, instead of
/// the number of losses. Sum and None do not divide. Source  tf.keras.losses.Loss (Keras 3);
/// tf.keras.losses.Reduction
enum class Reduction {
  Auto,
  None,
  Sum,
  SumOverBatchSize,
  Mean,
  MeanWithSampleWeight,
  // TensorFlow's spellings.
  AUTO = Auto,
  NONE = None,
  SUM = Sum,
  SUM_OVER_BATCH_SIZE = SumOverBatchSize,
};

/// Base of losses: weights and reduces the losses of the examples. Where the prediction has a mask
/// (get_keras_mask) the losses of steps that do not count are 0, and means are those of the others.
/// Losses of 16-bit predictions are computed in float32, as in Keras. Thread-safe.
/// Source  tf.keras.losses.Loss
class Loss {
 public:
  virtual ~Loss() = default;
  /// Shapes  sample_weight: the first axes of the losses [batch, ...], each of the same size or 1,
  ///         such as [batch], [batch, 1] or [batch, steps]; a scalar, or none.
  /// Throws  InvalidArgumentError for other weights, such as [steps] for [batch, steps].
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  /// The loss of each example, not weighted and not reduced.
  Tensor per_example(const Tensor& y_true, const Tensor& y_pred) const;
  Reduction reduction() const { return reduction_; }

 protected:
  explicit Loss(Reduction reduction) : reduction_(reduction) {}
  Loss(const Loss&) = default;
  Loss& operator=(const Loss&) = default;
  /// The loss of each example, [batch...], neither weighted nor reduced.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;

 private:
  Reduction reduction_;
};

struct LossOptions {  // options of Loss
  Reduction reduction = Reduction::Auto;
};
struct CrossentropyLossOptions {  // of losses of classes
  bool from_logits = false;
  double label_smoothing = 0;
  Reduction reduction = Reduction::Auto;
};

/// y_true: class numbers [batch...]. Source  tf.keras.losses.SparseCategoricalCrossentropy
class SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(EmptyBraces) : SparseCategoricalCrossentropy() {}
  explicit SparseCategoricalCrossentropy(CrossentropyLossOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CrossentropyOptions options_;
};

/// y_true: a probability per class. Source  tf.keras.losses.CategoricalCrossentropy
class CategoricalCrossentropy : public Loss {
 public:
  explicit CategoricalCrossentropy(EmptyBraces) : CategoricalCrossentropy() {}
  explicit CategoricalCrossentropy(CrossentropyLossOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CrossentropyOptions options_;
};

/// y_true: 0 or 1 per element. Source  tf.keras.losses.BinaryCrossentropy
class BinaryCrossentropy : public Loss {
 public:
  explicit BinaryCrossentropy(EmptyBraces) : BinaryCrossentropy() {}
  explicit BinaryCrossentropy(CrossentropyLossOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  CrossentropyOptions options_;
};

/// The loss of a function without options.
/// Source  tf.keras.losses.Loss
template <Tensor (*kFunction)(const Tensor&, const Tensor&)>
class FunctionLoss : public Loss {
 public:
  explicit FunctionLoss(EmptyBraces) : FunctionLoss() {}
  explicit FunctionLoss(LossOptions options = {}) : Loss(options.reduction) {}

 private:
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    return kFunction(y_true, y_pred);
  }
};

/// Means over the last axis. Source  tf.keras.losses.MeanSquaredError, MeanAbsoluteError
using MeanSquaredError = FunctionLoss<mean_squared_error>;
using MeanAbsoluteError = FunctionLoss<mean_absolute_error>;

}  // namespace distribute::nn
