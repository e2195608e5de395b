#pragma once
/// The weights of a module in each kind of file.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saving/detail/assign_weights.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/safetensors.hpp>

#include <string>

namespace distribute::saving_internal {

/// A `.weights.h5` of Keras 3. Reading some weights takes every worker.
Hdf5Contents weights_h5(const nn::Module& module, optim::Optimizer* optimizer = nullptr);
/// By the names of the variables.
saving::safetensors::Tensors weights_by_name(const nn::Module& module);

/// Whether it is a file as Keras 2 writes, with "layer_names".
bool is_legacy(const Hdf5Reader& file);
/// Each gives `weights` what the file has for the module.
void find_in_keras3(const Hdf5Reader& file, const nn::Module& module, bool by_name,
                    WeightAssignment& weights);
void find_in_legacy(const Hdf5Reader& file, const nn::Module& module, bool by_name,
                    WeightAssignment& weights);
/// Steps, learning rate and slots, which `file` has in Keras's order.
void find_optimizer(const Hdf5Reader& file, const nn::Module& module, optim::Optimizer& optimizer,
                    WeightAssignment& weights);
void find_by_name(const saving::safetensors::Tensors& file, const nn::Module& module,
                  WeightAssignment& weights);

}  // namespace distribute::saving_internal
