#pragma once
/// What one step of an optimizer does to each variable.

#include <distribute/base/config.hpp>
#include <distribute/optim/element_kernel.hpp>

#include <cstddef>
#include <vector>

namespace distribute::optim::optim_internal {

/// What a step does to one variable.
struct VariableFormula {
  ElementKernel formula;
  float decay;     // what the weights shrink by before it
  GpuFormula gpu;  // without coupled decay, which kernels of GPUs do themselves
};

/// The factor of update `i`; 1 for an empty list.
float factor_at(const std::vector<float>& factors, size_t i);

}  // namespace distribute::optim::optim_internal
