#pragma once
/// The passes of batch normalization on a GPU.

#include <distribute/base/config.hpp>
#include <distribute/ops/detail/norm_passes.hpp>

#include <memory>

namespace distribute::ops_internal {

/// cuDNN's where it has all of them, else elementwise operations in float32.
std::unique_ptr<NormPasses> make_gpu_norm_passes(const NormPassesInputs& in);

}  // namespace distribute::ops_internal
