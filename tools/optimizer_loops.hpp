#pragma once
/// One optimizer pass over all parameters in one flat loop: the least a training step must do.

#include <span>

namespace distribute_tools {

/// All spans have the same size. Each OpenMP thread takes one contiguous share.
void adam_pass(std::span<float> weight, std::span<const float> gradient, std::span<float> mean,
               std::span<float> square);
void momentum_pass(std::span<float> weight, std::span<const float> gradient,
                   std::span<float> velocity);
void sgd_pass(std::span<float> weight, std::span<const float> gradient);

}  // namespace distribute_tools
