#pragma once
/// The fast CPU backend on oneDNN (2.6 or 3.x); absent builds have no such backend.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>

#include <string>
#include <vector>

namespace distribute {

/// The oneDNN backend, or null when this build has none.
Backend* onednn_backend();

/// That one, or Eigen's where there is none.
Backend& built_in_backend();

/// Kernel names that oneDNN chose so far, "convolution_forward jit:avx512_core"; empty without it.
std::vector<std::string> onednn_kernels_in_use();

}  // namespace distribute
