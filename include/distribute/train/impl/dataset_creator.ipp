#pragma once
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/coordinator/remote_dataset.hpp>
#include <distribute/train/fit_options.hpp>

namespace distribute::train {

DISTRIBUTE_INLINE DatasetCreator::DatasetCreator(const RemoteDataset& dataset)
    : name_(dataset.name()) {}

DISTRIBUTE_INLINE data::Dataset DatasetCreator::operator()(const InputContext& context) const {
  return coordinator_internal::registry().find("dataset", name_)->make_data(context);
}

}  // namespace distribute::train
