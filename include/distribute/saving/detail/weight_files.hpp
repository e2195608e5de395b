#pragma once
/// The weights of a module in each kind of file.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saving/detail/assign_weights.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/keras_model.hpp>

#include <set>
#include <string>

namespace distribute::saving_internal {

/// Returns the contents of a `.weights.h5` of Keras 3. As reading some weights is an operation
/// between workers, every worker calls it.
Hdf5Contents weights_h5(const nn::Module& module, optim::Optimizer* optimizer = nullptr);
/// Returns the weights by the names of the variables.
saving::safetensors::Tensors weights_by_name(const nn::Module& module);

/// Returns the file's value for a variable at the path of an array, which may be missing.
FoundWeight found_array(const Hdf5Reader& file, const Variable& variable, const std::string& path);
/// Adds arrays of the file that are not among the used ones to the unused keys.
void note_unused(const Hdf5Reader& file, const std::set<std::string>& used,
                 WeightAssignment& weights);

/// Each of the following functions adds to `weights` the file's values for the module.
void find_in_keras3(const Hdf5Reader& file, const nn::Module& module, bool by_name,
                    WeightAssignment& weights);
/// Finds steps, learning rate and slots, which `file` has in Keras's order.
void find_optimizer(const Hdf5Reader& file, const nn::Module& module, optim::Optimizer& optimizer,
                    WeightAssignment& weights);
void find_by_name(const saving::safetensors::Tensors& file, const nn::Module& module,
                  WeightAssignment& weights);

/// Writes a file. Every worker calls it with its own bytes; the chief's file is kept.
void write_on_chief(const std::string& path, const std::string& bytes);

}  // namespace distribute::saving_internal
