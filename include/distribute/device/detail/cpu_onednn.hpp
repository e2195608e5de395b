#pragma once
/// The fast CPU backend on oneDNN (2.6 or 3.x); builds without oneDNN lack it.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/backend.hpp>

#include <string>
#include <vector>

namespace distribute {

/// The oneDNN backend, or null when this build has none.
Backend* onednn_backend();

/// The oneDNN backend, or Eigen's when this build has none.
Backend& built_in_backend();

/// Names of the kernels that oneDNN chose so far, "convolution_forward jit:avx512_core"; empty
/// without oneDNN.
std::vector<std::string> onednn_kernels_in_use();

}  // namespace distribute
