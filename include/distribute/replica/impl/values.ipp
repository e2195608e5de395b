#pragma once
#include <distribute/replica/values.hpp>

namespace distribute::replica_internal {

DISTRIBUTE_INLINE void check_component(size_t replica, size_t size) {
  if (replica < size) return;
  throw InvalidArgumentError(str_cat("a value of ", size, " replicas has none for replica ",
                                     replica, ": it comes from a strategy with fewer replicas"));
}

}  // namespace distribute::replica_internal
