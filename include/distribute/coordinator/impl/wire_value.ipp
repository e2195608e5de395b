#pragma once
#include <distribute/base/status.hpp>
#include <distribute/coordinator/remote_value.hpp>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE void throw_if_damaged(const absl::Status& parsed) {
  if (!parsed.ok()) throw DataLossError(std::string(parsed.message()));
}

}  // namespace distribute::coordinator_internal
