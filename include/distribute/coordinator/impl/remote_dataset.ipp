#pragma once
#include <distribute/coordinator/remote_dataset.hpp>

namespace distribute {

DISTRIBUTE_INLINE RemoteDataset::RemoteDataset(
    const std::string& name, std::function<data::Dataset(const InputContext&)> make_data)
    : handle_(std::make_shared<const coordinator_internal::Registration>(
          coordinator_internal::Registration{.kind = "dataset",
                                             .name = name,
                                             .signature = {},
                                             .run = {},
                                             .make_data = std::move(make_data)})) {}

}  // namespace distribute
