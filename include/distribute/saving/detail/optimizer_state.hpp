#pragma once
/// The variables of optimizers in the order of Keras's files.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>

#include <string>
#include <vector>

namespace distribute::saving_internal {

/// Steps, learning rate (none with a schedule), averages, slots; makes those that do not exist yet.
/// Values that Keras keeps and this library computes have variables of their own here, which end
/// with the list: Nadam's product of momenta, steps and learning rate of a LossScaleOptimizer.
/// Throws  UnimplementedError where slots are not in this process.
/// Source  keras.src.optimizers.base_optimizer.BaseOptimizer.variables
std::vector<Variable> optimizer_variables(const nn::Module& module, optim::Optimizer& optimizer);

/// {"class_name": "Adam", "config": {...}} as JSON text, with what Keras knows.
/// Throws  UnimplementedError for what Keras's optimizers cannot do, schedules, and a class of the
///         program's own.
std::string optimizer_config(const optim::Optimizer& optimizer);

}  // namespace distribute::saving_internal
