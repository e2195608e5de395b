#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/train/fit_options.hpp>
#include <distribute/train/model.hpp>

#include <cmath>
#include <optional>
#include <utility>

namespace distribute::train_internal {

/// Splits off the last examples, which are for validation.
DISTRIBUTE_INLINE std::pair<train::ArrayData, std::optional<train::ArrayData>> split(
    const train::ArrayData& arrays, double validation_split) {
  if (validation_split == 0) return {arrays, {}};
  const int64_t size = arrays.size();
  const auto first = int64_t(std::floor(double(size) * (1.0 - validation_split)));
  if (first == 0 || first == size)
    throw InvalidArgumentError(str_cat(
        "Training data contains ", size, " samples, which is not sufficient to split it ",
        "into a validation and training set as specified by `validation_split=", validation_split,
        "`. Either provide more data, or a different value for the ",
        "`validation_split` argument."));
  return {arrays.rows(0, first), arrays.rows(first, size)};
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE InputData::InputData(const DistributedDataset& dataset)
    : data_(std::make_shared<const DistributedDataset>(dataset)) {}

DISTRIBUTE_INLINE int64_t InputData::cardinality() const {
  if (const auto* whole = std::get_if<data::Dataset>(&data_)) return whole->cardinality();
  if (std::holds_alternative<DatasetCreator>(data_)) return data::kUnknownCardinality;
  return std::get<std::shared_ptr<const DistributedDataset>>(data_)->cardinality();
}

DISTRIBUTE_INLINE void require_steps(const InputData& data, std::optional<int64_t> steps,
                                     const char* what, const char* option) {
  if (steps && *steps < 1)
    throw InvalidArgumentError(str_cat(what, ": ", option, " must be at least 1; it is ", *steps));
  if (steps) return;
  if (std::holds_alternative<DatasetCreator>(data.data()))
    throw InvalidArgumentError(
        str_cat(what, ": When using a `DatasetCreator`, `", option, "` must be provided."));
  data::require_end(data.cardinality(), what, option);
}

DISTRIBUTE_INLINE ArrayData ArrayData::rows(int64_t begin, int64_t end) const {
  const auto part = [&](const Tensor& all) { return all ? all.rows(begin, end) : Tensor(); };
  return {part(x), part(y), part(sample_weight)};
}

DISTRIBUTE_INLINE data::Dataset ArrayData::rows_as_dataset() const {
  if (sample_weight) return data::Dataset::from_tensor_slices(x, y, {sample_weight});
  return data::Dataset::from_tensor_slices(x, y);
}

DISTRIBUTE_INLINE ValidationFrequency::ValidationFrequency(int64_t every) : every_(every) {
  if (every < 1)
    throw InvalidArgumentError(str_cat("validation_freq: expected at least 1, it is ", every));
}

DISTRIBUTE_INLINE ValidationFrequency::ValidationFrequency(std::initializer_list<int64_t> epochs)
    : epochs_(epochs) {
  if (!epochs_.empty() && *epochs_.begin() < 1)
    throw InvalidArgumentError(
        str_cat("validation_freq: epochs count from 1; there is ", *epochs_.begin()));
}

DISTRIBUTE_INLINE History Model::fit(const ArrayData& arrays, const FitOptions& options,
                                     const ArrayOptions& how) {
  if (how.validation_split < 0 || how.validation_split >= 1)
    throw InvalidArgumentError(
        str_cat("fit: validation_split must lie in [0, 1); it is ", how.validation_split));
  if ((how.validation_split > 0) + how.validation_data.has_value() +
          options.validation_data.has_value() >
      1)
    throw InvalidArgumentError(
        "fit: validation data is given twice; take validation_split or validation_data");
  if (options.steps_per_epoch)
    throw InvalidArgumentError(
        "fit: arrays do not repeat; with steps_per_epoch give "
        "Dataset::from_tensor_slices(...).repeat().batch(...)");
  const auto [training, validation] = train_internal::split(arrays, how.validation_split);
  data::Dataset rows = training.rows_as_dataset();
  if (how.shuffle) rows = rows.shuffle(training.size());
  FitOptions all = options;
  const int64_t batch_size = how.validation_batch_size.value_or(how.batch_size);
  if (validation) all.validation_data = validation->rows_as_dataset().batch(batch_size);
  if (how.validation_data)
    all.validation_data = how.validation_data->rows_as_dataset().batch(batch_size);
  return fit(rows.batch(how.batch_size), all);
}

DISTRIBUTE_INLINE Logs Model::evaluate(const ArrayData& arrays, const EvaluateOptions& options,
                                       int64_t batch_size) {
  return evaluate(arrays.rows_as_dataset().batch(batch_size), options);
}

DISTRIBUTE_INLINE Tensor Model::predict(const Tensor& x, const PredictOptions& options,
                                        int64_t batch_size) {
  return predict(data::Dataset::from_tensor_slices(x).batch(batch_size), options);
}

}  // namespace distribute::train
