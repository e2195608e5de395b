#pragma once
/// The variables of optimizers in the order of Keras's files.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>

#include <string>
#include <vector>

namespace distribute::saving_internal {

/// Returns steps, learning rate (unless it is a schedule), averages and slots; makes those that do
/// not exist yet. Values that Keras stores and this library computes get separate variables here,
/// which exist as long as the list: Nadam's product of momenta, steps and learning rate of a
/// LossScaleOptimizer.
/// Throws  UnimplementedError if slots are not in this process.
/// Source  keras.src.optimizers.base_optimizer.BaseOptimizer.variables
std::vector<Variable> optimizer_variables(const nn::Module& module, optim::Optimizer& optimizer);

/// Returns {"class_name": "Adam", "config": {...}} as JSON text, with the options of Keras.
/// Throws  UnimplementedError for options that Keras's optimizers do not have, and for a schedule
///         or a class of the program.
std::string optimizer_config(const optim::Optimizer& optimizer);

}  // namespace distribute::saving_internal
