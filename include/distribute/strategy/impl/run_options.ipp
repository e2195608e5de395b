#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/strategy_extended.hpp>

namespace distribute {

DISTRIBUTE_INLINE void RunOptions::check() const {
  if (!experimental_enable_dynamic_batch_size)
    throw UnimplementedError(
        "RunOptions: experimental_enable_dynamic_batch_size = false asks XLA for static shapes; "
        "here every replica runs with the shapes it gets: leave it true");
  if (experimental_bucketizing_dynamic_shape)
    throw UnimplementedError(
        "RunOptions: experimental_bucketizing_dynamic_shape = true pads batches for XLA on TPUs, "
        "which are not here: leave it false");
}

}  // namespace distribute
