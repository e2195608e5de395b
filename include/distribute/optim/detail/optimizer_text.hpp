#pragma once
/// Optimizers and their kernels written as JSON.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer_config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::optim::optim_internal {

/// {"class_name": ..., "config": {...}}
std::string optimizer_text(const std::string& class_name, const OptimizerConfig& config);

/// What the kernel of a step depends on beside the options.
struct StepText {
  float rate;
  int64_t done;  // steps before it
  // By variable: whether it decays, factors of its rate and of its step; none: 1 everywhere.
  const std::vector<bool>& decayed;
  const std::vector<float>&factors, &ratios;
};

/// The same with the numbers of a step.
std::string kernel_text(const std::string& class_name, const OptimizerConfig& config,
                        const StepText& step);

}  // namespace distribute::optim::optim_internal
