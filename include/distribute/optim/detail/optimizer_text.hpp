#pragma once
/// Optimizers written as JSON.

#include <distribute/base/config.hpp>
#include <distribute/optim/optimizer_config.hpp>

#include <string>

namespace distribute::optim::optim_internal {

/// Gives {"class_name": ..., "config": {...}}.
std::string optimizer_text(const std::string& class_name, const OptimizerConfig& config);

}  // namespace distribute::optim::optim_internal
