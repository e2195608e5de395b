#pragma once
/// Losses of each example, and their average over the global batch.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute::nn {

struct CrossentropyOptions {   // of losses of classes
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
/// times the number of replicas.
/// Throws  FailedPreconditionError in cross-replica context; InvalidArgumentError for a size < 1.
/// Source  tf.nn.compute_average_loss
Tensor compute_average_loss(const Tensor& per_example_loss,
                            std::optional<int64_t> global_batch_size = {},
                            const Tensor& sample_weight = {});

/// The sum of `losses` divided by the number of replicas, as every replica adds the same terms.
/// Throws  FailedPreconditionError in cross-replica context.
/// Source  tf.nn.scale_regularization_loss
Tensor scale_regularization_loss(const Tensor& loss);
Tensor scale_regularization_loss(const std::vector<Tensor>& losses);

}  // namespace distribute::nn
