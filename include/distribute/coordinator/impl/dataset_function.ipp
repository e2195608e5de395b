#pragma once
#include <distribute/coordinator/detail/registry.hpp>
#include <distribute/coordinator/remote_dataset.hpp>

#include <memory>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE bool add_dataset_type(const char* name,
                                        data::Dataset (*make)(const InputContext&)) {
  registry().add_type(std::make_shared<const Registration>(
      Registration{.kind = "dataset", .name = name, .signature = {}, .make_data = make}));
  return true;
}

}  // namespace distribute::coordinator_internal
