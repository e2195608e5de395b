#pragma once
/// What optimizers do to every element beside their own formula: decay and moving averages.

#include <distribute/base/config.hpp>
#include <distribute/optim/element_kernel.hpp>

#include <cstddef>
#include <cstdint>

namespace distribute::optim::optim_internal {

/// x -= x * factor
void scale(float* x, float factor, int64_t count);
/// mean = momentum * mean + (1 - momentum) * x
void average(float* mean, const float* x, float momentum, int64_t count);

/// The formula for gradient + decay * weights, which is made in pieces that stay in the cache.
ElementKernel with_coupled_decay(ElementKernel formula, float decay, size_t num_slots);

}  // namespace distribute::optim::optim_internal
