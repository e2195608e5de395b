#pragma once
/// Optimizers and their kernels written as JSON.

#include <distribute/base/config.hpp>
#include <distribute/optim/detail/optimizer_step.hpp>
#include <distribute/optim/optimizer_config.hpp>

#include <string>

namespace distribute::optim::optim_internal {

/// {"class_name": ..., "config": {...}}
std::string optimizer_text(const std::string& class_name, const OptimizerConfig& config);

/// The same with the numbers of a step.
std::string kernel_text(const std::string& class_name, const OptimizerConfig& config,
                        const OptimizerStep& step);

}  // namespace distribute::optim::optim_internal
