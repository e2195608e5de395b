#pragma once
/// Weights of modules in the files of Keras (.weights.h5, .keras, .h5) and in safetensors.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>

#include <string>

namespace distribute::saving {

/// What save_weights and save_model write beside the weights.
struct SaveWeightsOptions {
  /// Its steps, learning rate and slots ("optimizer/vars/0", ...): in `.weights.h5` and models.
  optim::Optimizer* optimizer = nullptr;
};

/// Writes all weights of a module that was called once. The ending says how: `.weights.h5` as
/// Keras 3 (layers/dense/vars/0, ...), `.h5` and `.hdf5` as Keras 2, which Keras 3 reads, too,
/// `.safetensors` by the names of the variables. The file appears whole or not at all. With several
/// workers every worker calls it, and the chief's file stays. Blocks  until the chief's file is
/// complete. Throws  InvalidArgumentError for another ending, or an optimizer in safetensors or in
/// weights
///         of Keras 2; FailedPreconditionError for a module without weights; UnimplementedError in
///         a build without libhdf5; what files throw.
/// Source  tf.keras.Model.save_weights
void save_weights(nn::Module& module, const std::string& path,
                  const SaveWeightsOptions& options = {});

/// What load_weights may pass over.
struct LoadWeightsOptions {
  /// Layers by their names, those that the file does not have keep their values; else layers by
  /// their place in the model. For `.safetensors` and ResNet names count in any case.
  bool by_name = false;
  /// Weights that the file does not have, or of another shape or type, keep their values.
  bool skip_mismatch = false;
  /// Gets steps, learning rate and slots from files of Keras 3, for the trained variables in the
  /// order in which Keras has them. Not Nadam.
  optim::Optimizer* optimizer = nullptr;
};

/// Gives a module that was called once the weights of a file: `.weights.h5` and `.keras` of Keras
/// 3,
/// `.h5` of Keras 2 and 3 (weights alone or with a model), `.safetensors`. All values are read and
/// checked before the first is assigned. Floating values take the dtype of the variable. Every
/// worker calls it and reads the file.
/// Throws  NotFoundError for a file, a weight or an optimizer that is missing, InvalidArgumentError
/// for one of
///         another shape, with variable, file and both shapes; DataLossError for a damaged file;
///         UnimplementedError in a build without libhdf5 or libzip. Then nothing is assigned.
/// Source  tf.keras.Model.load_weights
train::LoadedWeights load_weights(nn::Module& module, const std::string& path,
                                  const LoadWeightsOptions& options = {});

}  // namespace distribute::saving
