#pragma once
#include <distribute/coordinator/detail/closure_argument.hpp>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE void refuse_remote_value(const std::string& function) {
  throw InvalidArgumentError("schedule " + function +
                             ": a RemoteValue cannot be an argument; fetch() it first, or put the "
                             "functions together into one");
}

}  // namespace distribute::coordinator_internal
