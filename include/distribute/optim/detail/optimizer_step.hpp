#pragma once
/// The numbers of one step of an optimizer, of which its kernel is made.

#include <distribute/base/config.hpp>
#include <distribute/optim/element_kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distribute::optim::optim_internal {

/// All that a step's formula depends on beside the options.
struct OptimizerStep {
  float rate;
  int64_t done;                     // steps before it
  std::vector<bool> decayed;        // of each update
  std::vector<float> factors = {};  // of each update, of its rate; none: 1 everywhere
  std::vector<float> ratios = {};   // of each update, of its step; none: 1 everywhere
};

/// What a step does to one variable.
struct VariableFormula {
  ElementKernel formula;
  float decay;     // what the weights shrink by before it
  GpuFormula gpu;  // without coupled decay, which kernels of GPUs do themselves
};

/// Of update `i`; 1 for an empty list.
float factor_at(const std::vector<float>& factors, size_t i);

}  // namespace distribute::optim::optim_internal
