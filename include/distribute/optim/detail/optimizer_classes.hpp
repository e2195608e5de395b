#pragma once
/// The optimizers that optim::deserialize() knows without register_optimizer().
/// Written by tools/check_umbrella.py.

#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/sgd.hpp>

namespace distribute::optim::optim_internal {

using FromConfig = std::unique_ptr<Optimizer> (*)(const OptimizerConfig&);

inline constexpr std::pair<const char*, FromConfig> kOptimizerClasses[] = {
    // clang-format off
    {"Adagrad", Adagrad::from_config},
    {"Adadelta", Adadelta::from_config},
    {"RMSprop", RMSprop::from_config},
    {"Adam", Adam::from_config},
    {"AdamW", AdamW::from_config},
    {"Adamax", Adamax::from_config},
    {"Nadam", Nadam::from_config},
    {"Lamb", Lamb::from_config},
    {"Lion", Lion::from_config},
    {"Ftrl", Ftrl::from_config},
    {"LossScaleOptimizer", LossScaleOptimizer::from_config},
    {"SGD", SGD::from_config},
    // clang-format on
};

}  // namespace distribute::optim::optim_internal
