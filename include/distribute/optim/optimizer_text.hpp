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

/// The same with the rate of the step, the steps before it, and which variables decay.
std::string kernel_text(const std::string& class_name, const OptimizerConfig& config, float rate,
                        int64_t done, const std::vector<bool>& decayed);

}  // namespace distribute::optim::optim_internal
