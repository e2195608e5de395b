#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/replica/replica_context.hpp>
#include <distribute/train/compile.hpp>
#include <distribute/train/detail/class_names.hpp>

#include <algorithm>

namespace distribute::train_internal {

struct NamedMetric {
  const char* names;
  train::CompiledMetric (*make)(const std::string& name);
};

/// Returns the accuracy that fits the shapes.
DISTRIBUTE_INLINE Tensor accuracy(const Tensor& y_true, const Tensor& y_pred) {
  switch (target_kind(y_true, y_pred)) {
    case TargetKind::Binary: return nn::metrics::binary_accuracy(y_true, y_pred);
    case TargetKind::Sparse: return nn::metrics::sparse_categorical_accuracy(y_true, y_pred);
    case TargetKind::Categorical: break;
  }
  return nn::metrics::categorical_accuracy(y_true, y_pred);
}

/// Metrics that take their name alone, and among their options.
template <typename M>
train::CompiledMetric named(const std::string& name) {
  return M(name);
}
template <typename M>
train::CompiledMetric with_name(const std::string& name) {
  return M({.name = name});
}

inline constexpr NamedMetric kNamedMetrics[] = {
    {"accuracy acc Accuracy",
     [](const std::string& name) -> train::CompiledMetric {
       return nn::metrics::MeanMetricWrapper(accuracy, name, nn::metrics::Direction::Up);
     }},
    {"binary_accuracy BinaryAccuracy", named<nn::metrics::BinaryAccuracy>},
    {"categorical_accuracy CategoricalAccuracy", named<nn::metrics::CategoricalAccuracy>},
    {"sparse_categorical_accuracy SparseCategoricalAccuracy",
     named<nn::metrics::SparseCategoricalAccuracy>},
    {"top_k_categorical_accuracy TopKCategoricalAccuracy",
     with_name<nn::metrics::TopKCategoricalAccuracy>},
    {"sparse_top_k_categorical_accuracy SparseTopKCategoricalAccuracy",
     with_name<nn::metrics::SparseTopKCategoricalAccuracy>},
    {"binary_crossentropy BinaryCrossentropy bce BCE", named<nn::metrics::BinaryCrossentropy>},
    {"categorical_crossentropy CategoricalCrossentropy",
     named<nn::metrics::CategoricalCrossentropy>},
    {"sparse_categorical_crossentropy SparseCategoricalCrossentropy",
     named<nn::metrics::SparseCategoricalCrossentropy>},
    {"kl_divergence KLDivergence", named<nn::metrics::KLDivergence>},
    {"poisson Poisson", named<nn::metrics::Poisson>},
    {"mean_squared_error MeanSquaredError mse MSE", named<nn::metrics::MeanSquaredError>},
    {"root_mean_squared_error RootMeanSquaredError", named<nn::metrics::RootMeanSquaredError>},
    {"mean_absolute_error MeanAbsoluteError mae MAE", named<nn::metrics::MeanAbsoluteError>},
    {"mean_absolute_percentage_error MeanAbsolutePercentageError mape MAPE",
     named<nn::metrics::MeanAbsolutePercentageError>},
    {"mean_squared_logarithmic_error MeanSquaredLogarithmicError msle MSLE",
     named<nn::metrics::MeanSquaredLogarithmicError>},
    {"cosine_similarity CosineSimilarity", named<nn::metrics::CosineSimilarity>},
    {"log_cosh_error LogCoshError", named<nn::metrics::LogCoshError>},
    {"hinge Hinge", named<nn::metrics::Hinge>},
    {"squared_hinge SquaredHinge", named<nn::metrics::SquaredHinge>},
    {"categorical_hinge CategoricalHinge", named<nn::metrics::CategoricalHinge>},
    {"auc AUC", with_name<nn::metrics::AUC>},
    {"precision Precision", with_name<nn::metrics::Precision>},
    {"recall Recall", with_name<nn::metrics::Recall>},
    {"true_positives TruePositives", with_name<nn::metrics::TruePositives>},
    {"false_positives FalsePositives", with_name<nn::metrics::FalsePositives>},
    {"true_negatives TrueNegatives", with_name<nn::metrics::TrueNegatives>},
    {"false_negatives FalseNegatives", with_name<nn::metrics::FalseNegatives>},
    {"f_beta_score FBetaScore", with_name<nn::metrics::FBetaScore>},
    {"f1_score F1Score", with_name<nn::metrics::F1Score>},
    {"binary_io_u BinaryIoU", with_name<nn::metrics::BinaryIoU>},
};

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE CompiledMetric::CompiledMetric(const std::string& name)
    : state_(std::make_shared<State>()) {
  using train_internal::kNamedMetrics;
  for (const train_internal::NamedMetric& metric : kNamedMetrics)
    if (train_internal::has_name(metric.names, name)) {
      state_->make = [make = metric.make, name] { return make(name); };
      return;
    }
  throw InvalidArgumentError(str_cat("compile: no metric is called '", name, "'; known are ",
                                     train_internal::all_names(kNamedMetrics)));
}

DISTRIBUTE_INLINE CompiledMetric::State& CompiledMetric::made() const {
  if (!state_->metric) {
    const CompiledMetric metric = state_->make();
    state_->metric = metric.state_->metric;
    state_->update = metric.state_->update;
  }
  return *state_;
}

DISTRIBUTE_INLINE bool CompiledMetric::is_of_no_strategy() const {
  const std::vector<Variable> variables = made().metric->variables();
  return !variables.empty() &&
         std::all_of(variables.begin(), variables.end(), [](const Variable& variable) {
           return dynamic_cast<const PlainVariable*>(&variable.impl()) != nullptr;
         });
}

DISTRIBUTE_INLINE void CompiledMetric::update_state(const Tensor& y_true, const Tensor& y_pred,
                                                    const Tensor& weight) const {
  State& state = made();
  if (current_num_replicas_in_sync() == 1 || !is_of_no_strategy())
    return state.update(y_true, y_pred, weight);
  const std::lock_guard lock(state.replicas);
  state.update(y_true, y_pred, weight);
}

}  // namespace distribute::train
