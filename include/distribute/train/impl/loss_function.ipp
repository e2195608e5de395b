#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/train/compile.hpp>
#include <distribute/train/detail/class_names.hpp>

#include <algorithm>

namespace distribute::train_internal {

struct NamedLoss {
  const char* names;
  Tensor (*function)(const Tensor& y_true, const Tensor& y_pred);
};

/// Returns the crossentropy that fits the shapes.
DISTRIBUTE_INLINE Tensor crossentropy(const Tensor& y_true, const Tensor& y_pred) {
  switch (target_kind(y_true, y_pred)) {
    case TargetKind::Binary: return nn::binary_crossentropy(y_true, y_pred);
    case TargetKind::Sparse: return nn::sparse_categorical_crossentropy(y_true, y_pred);
    case TargetKind::Categorical: break;
  }
  return nn::categorical_crossentropy(y_true, y_pred);
}

/// Makes a loss with default options.
template <auto kFunction>
Tensor plain(const Tensor& y_true, const Tensor& y_pred) {
  return kFunction(y_true, y_pred, {});
}

inline constexpr NamedLoss kNamedLosses[] = {
    {"crossentropy ce", crossentropy},
    {"sparse_categorical_crossentropy SparseCategoricalCrossentropy",
     plain<nn::sparse_categorical_crossentropy>},
    {"categorical_crossentropy CategoricalCrossentropy", plain<nn::categorical_crossentropy>},
    {"binary_crossentropy BinaryCrossentropy bce BCE", plain<nn::binary_crossentropy>},
    {"categorical_focal_crossentropy CategoricalFocalCrossentropy",
     plain<nn::categorical_focal_crossentropy>},
    {"binary_focal_crossentropy BinaryFocalCrossentropy", plain<nn::binary_focal_crossentropy>},
    {"kl_divergence KLDivergence kld KLD", nn::kl_divergence},
    {"poisson Poisson", nn::poisson},
    {"mean_squared_error MeanSquaredError mse MSE", nn::mean_squared_error},
    {"mean_absolute_error MeanAbsoluteError mae MAE", nn::mean_absolute_error},
    {"mean_absolute_percentage_error MeanAbsolutePercentageError mape MAPE",
     nn::mean_absolute_percentage_error},
    {"mean_squared_logarithmic_error MeanSquaredLogarithmicError msle MSLE",
     nn::mean_squared_logarithmic_error},
    {"huber Huber", nn::huber},
    {"log_cosh LogCosh", nn::log_cosh},
    {"cosine_similarity CosineSimilarity", nn::cosine_similarity},
    {"hinge Hinge", nn::hinge},
    {"squared_hinge SquaredHinge", nn::squared_hinge},
    {"categorical_hinge CategoricalHinge", nn::categorical_hinge},
    {"ctc CTC", nn::ctc},
};

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE LossFunction LossFunction::by_name(const std::string& name) {
  using train_internal::kNamedLosses;
  for (const train_internal::NamedLoss& loss : kNamedLosses)
    if (train_internal::has_name(loss.names, name)) {
      LossFunction found;
      found.function_ = loss.function;
      return found;
    }
  throw InvalidArgumentError(str_cat("compile: no loss is called '", name, "'; known are ",
                                     train_internal::all_names(kNamedLosses)));
}

/// As Keras does before it calls a function; nothing is broadcast to [batch, batch] then.
/// Source  keras.src.losses.loss.squeeze_or_expand_to_same_rank
DISTRIBUTE_INLINE LossFunction::Function LossFunction::with_equal_ranks(Function function) {
  if (!function) return function;
  return [function = std::move(function)](const Tensor& y_true, const Tensor& y_pred) {
    const int missing = y_pred.shape().rank() - y_true.shape().rank();
    if (missing == 1 && y_pred.shape()[-1] == 1)
      return y_true.shape().rank() == 1 ? function(expand_dims(y_true, -1), y_pred)
                                        : function(y_true, squeeze(y_pred, {-1}));
    if (missing == -1 && y_true.shape()[-1] == 1)
      return y_pred.shape().rank() == 1 ? function(y_true, expand_dims(y_pred, -1))
                                        : function(squeeze(y_true, {-1}), y_pred);
    return function(y_true, y_pred);
  };
}

DISTRIBUTE_INLINE nn::Reduction LossFunction::checked(nn::Reduction reduction) {
  if (reduction == nn::Reduction::None)
    throw InvalidArgumentError(
        "compile: a loss without reduction gives no number to minimize; take Reduction::Sum, or "
        "leave the reduction out for the mean");
  return reduction;
}

DISTRIBUTE_INLINE Tensor LossFunction::share(const Tensor& y_true, const Tensor& y_pred,
                                             int64_t global_batch,
                                             const Tensor& sample_weight) const {
  const Tensor found = function_(y_true, nn::nn_internal::at_least_float32(y_pred));
  const Tensor losses = cast(found, DType::Float32);
  if (losses.shape().rank() == 0)
    throw InvalidArgumentError(
        "compile: the loss gives one number; wanted the loss of each example [batch, ...], of "
        "which fit takes the mean. For a mean over what a mask counts give the mask as sample "
        "weights and take Reduction::MeanWithSampleWeight; for any other number override "
        "train_step");
  const double of_an_example =
      double(losses.num_elements()) / double(std::max<int64_t>(losses.shape()[0], 1));
  return nn::nn_internal::reduce_weighted_values(losses, sample_weight,
                                                 nn::nn_internal::mask_of_losses(found, y_pred),
                                                 reduction_, of_an_example * double(global_batch));
}

}  // namespace distribute::train
