#pragma once
/// What optimizers do to every element beside their own formula: decay and moving averages.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace distribute::optim::optim_internal {

/// x -= x * factor
void scale(float* x, float factor, int64_t count);
/// mean = momentum * mean + (1 - momentum) * x
void average(float* mean, const float* x, float momentum, int64_t count);

using ElementKernel =
    std::function<void(float* weights, float* const* slots, const float* gradient, int64_t)>;

/// The formula for gradient + decay * weights, which is made in pieces that stay in the cache.
ElementKernel with_coupled_decay(ElementKernel formula, float decay, size_t num_slots);

}  // namespace distribute::optim::optim_internal
