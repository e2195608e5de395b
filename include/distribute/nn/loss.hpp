#pragma once
/// The class Loss, the cross entropies, and the mean errors.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute::nn {

/// Holds the options of classification losses. Predictions that a layer computed by softmax or
/// sigmoid carry their logits, and the loss uses these, whatever from_logits says, as in Keras 3.
struct CrossentropyOptions {
  bool from_logits = false;    // predictions are logits instead of probabilities
  double label_smoothing = 0;  // s: targets become (1 - s) y + s / classes
  int axis = -1;               // of the classes
};
struct SparseCrossentropyOptions {  // options of losses whose targets are class numbers
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};  // targets that do not count, such as -1
  double label_smoothing = 0;
};

/// -log(probability of the true class). Targets of ignore_class have loss 0, and the result a mask
/// (get_keras_mask) that leaves them out of the mean of a Loss.
/// Shapes  y_true integer [batch...], or [batch..., 1]; y_pred [batch..., classes] -> [batch...].
/// Source  tf.keras.losses.sparse_categorical_crossentropy
Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       SparseCrossentropyOptions options = {});

/// Shapes  y_true and y_pred [batch..., classes] -> [batch...]; with another axis of the classes
/// the loss has the other axes in their order.
/// Source  tf.keras.losses.categorical_crossentropy
Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                CrossentropyOptions options = {});

/// Averages over the last axis, or over `axis`. Smoothing makes targets (1 - s) y + s / 2.
/// Shapes  y_true and y_pred [batch..., d] -> [batch...].
/// Source  tf.keras.losses.binary_crossentropy
Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           CrossentropyOptions options = {});

/// Averages over the last axis. Shapes as binary_crossentropy; y_true may lack, or alone have, a
/// last axis of size 1.
/// Throws  InvalidArgumentError for shapes that do not fit.
/// Source  tf.keras.losses.mean_squared_error, mean_absolute_error
Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);

/// Computes sum(per_example_loss * sample_weight) / global_batch_size: each replica's share of the
/// mean over the global batch, to be summed over replicas. The default size is the number of
/// examples here times the number of replicas. Integers become float32.
/// Shapes  per_example_loss [batch, ...]; sample_weight as in Loss.
/// Throws  FailedPreconditionError in cross-replica context; InvalidArgumentError for a size < 1, a
///          loss that is one number, and weights that do not fit.
/// Source  tf.nn.compute_average_loss
Tensor compute_average_loss(const Tensor& per_example_loss,
                            std::optional<int64_t> global_batch_size = {},
                            const Tensor& sample_weight = {});

/// Divides the sum of `losses` by the number of replicas, as every replica adds the same terms.
/// Throws  FailedPreconditionError in cross-replica context.
/// Source  tf.nn.scale_regularization_loss
Tensor scale_regularization_loss(const Tensor& loss);
Tensor scale_regularization_loss(const std::vector<Tensor>& losses);

/// How the losses of the examples become one number. Auto is SumOverBatchSize: the mean over this
/// replica's examples divided by the number of replicas of the current strategy, as in Keras 3.
/// Summed over replicas that is the mean over the global batch if all replicas have the same number
/// of examples; compute_average_loss divides by the global batch size itself. Mean is the same.
/// MeanWithSampleWeight divides by the sum of the given sample weights instead of the number of
/// losses. Sum and None do not divide.
/// Source  tf.keras.losses.Loss (Keras 3); tf.keras.losses.Reduction
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

/// Is the base of losses: weights and reduces the losses of the examples. If the prediction carries
/// a mask (get_keras_mask), masked steps have loss 0 and means are over the other steps. Losses of
/// 16-bit predictions are computed in float32, as in Keras. Thread-safe.
/// Source  tf.keras.losses.Loss
class Loss {
 public:
  virtual ~Loss() = default;
  /// Shapes  sample_weight: the first axes of the losses [batch, ...], each of the same size or 1,
  ///         such as [batch], [batch, 1] or [batch, steps]; a scalar, or none.
  /// Throws  InvalidArgumentError for other weights, such as [steps] for [batch, steps].
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  /// Returns the loss of each example, neither weighted nor reduced.
  Tensor per_example(const Tensor& y_true, const Tensor& y_pred) const;
  Reduction reduction() const { return reduction_; }

 protected:
  explicit Loss(Reduction reduction) : reduction_(reduction) {}
  Loss(const Loss&) = default;
  Loss& operator=(const Loss&) = default;
  /// Returns the loss of each example, [batch...], neither weighted nor reduced.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;

 private:
  Reduction reduction_;
};

struct LossOptions {  // options of Loss
  Reduction reduction = Reduction::Auto;
};
struct CrossentropyLossOptions {  // options of classification losses
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;
  Reduction reduction = Reduction::Auto;
};
struct SparseCrossentropyLossOptions {  // options of SparseCategoricalCrossentropy
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  double label_smoothing = 0;
  Reduction reduction = Reduction::Auto;
};

/// y_true: class numbers [batch...]. Source  tf.keras.losses.SparseCategoricalCrossentropy
class SparseCategoricalCrossentropy : public Loss {
 public:
  explicit SparseCategoricalCrossentropy(EmptyBraces) : SparseCategoricalCrossentropy() {}
  explicit SparseCategoricalCrossentropy(SparseCrossentropyLossOptions options = {});

 private:
  DISTRIBUTE_INLINE Tensor call(const Tensor& y_true, const Tensor& y_pred) const override;
  SparseCrossentropyOptions options_;
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

/// Wraps a function without options as a loss.
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

/// ctc_loss() of all steps (ops/sequence.hpp), with class 0 as blank. Each row of labels ends with
/// zeros, which do not count. Shapes  y_true [batch, labels], y_pred logits [batch, steps, classes]
/// -> [batch]. Throws  InvalidArgumentError for other shapes, and a 0 between labels. Source
/// tf.keras.losses.ctc
Tensor ctc(const Tensor& y_true, const Tensor& y_pred);

/// ctc() as an object. Predictions with a mask are refused, as in Keras: call ctc_loss() with the
/// lengths. Source  tf.keras.losses.CTC
using CTC = FunctionLoss<ctc>;

}  // namespace distribute::nn
