#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/train/fit_options.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE InputData::InputData(const DistributedDataset& dataset)
    : data_(std::make_shared<const DistributedDataset>(dataset)) {}

DISTRIBUTE_INLINE int64_t InputData::cardinality() const {
  if (const auto* whole = std::get_if<data::Dataset>(&data_)) return whole->cardinality();
  return std::get<std::shared_ptr<const DistributedDataset>>(data_)->cardinality();
}

DISTRIBUTE_INLINE ValidationFrequency::ValidationFrequency(int64_t every) : every_(every) {
  if (every < 1)
    throw InvalidArgumentError(str_cat("validation_freq: expected at least 1, it is ", every));
}

}  // namespace distribute::train
