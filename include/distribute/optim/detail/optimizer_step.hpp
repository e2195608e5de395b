#pragma once
/// What one step of an optimizer does to each variable.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer_config.hpp>

#include <cstddef>
#include <vector>

namespace distribute::optim::optim_internal {

/// The change of one variable in a step.
struct VariableFormula {
  ElementKernel formula;
  float decay;     // factor by which the weights shrink before it
  GpuFormula gpu;  // without coupled decay, which GPU kernels apply themselves
};

/// The factor of update `i`; 1 when the list is empty.
float factor_at(const std::vector<float>& factors, size_t i);

}  // namespace distribute::optim::optim_internal
