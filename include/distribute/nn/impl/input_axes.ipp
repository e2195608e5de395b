#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/input_axes.hpp>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE void check_least_axes(const std::string& layer, const Shape& input, int least) {
  if (input.rank() >= least) return;
  throw InvalidArgumentError(str_cat("Input 0 of layer '", layer, "' is incompatible with the ",
                                     "layer: expected min_ndim=", least, ", found ndim=",
                                     input.rank(), ". Full shape received: ", to_string(input),
                                     ". A batch of one is made by expand_dims(x, 0)"));
}

}  // namespace distribute::nn::nn_internal
