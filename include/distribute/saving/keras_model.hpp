#pragma once
/// Models and weights in Keras's files, and weights in safetensors files.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/tensor/tensor.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>

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

namespace distribute::saving::safetensors {

using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

/// What a file holds.
struct Contents {
  Tensors tensors;
  Metadata metadata;  // "__metadata__" of the header
};

/// Source  https://huggingface.co/docs/safetensors, safetensors.serialize
std::string serialize(const Tensors& tensors, const Metadata& metadata = {});

/// The way back. Every offset is checked: the tensors fill the file without gap or overlap.
/// Errors call the file `name`.
/// Throws  DataLossError for bytes that are no such file, or damaged; UnimplementedError for an
///         element type that tensors here cannot have.
/// Source  safetensors.deserialize
Contents deserialize(std::string_view bytes, const std::string& name);

/// The file appears whole or not at all.
/// Throws  what files throw (PermissionDeniedError, ResourceExhaustedError, ...).
/// Source  safetensors.numpy.save_file
void save_file(const Tensors& tensors, const std::string& path, const Metadata& metadata = {});

/// Throws  NotFoundError; as deserialize.
/// Source  safetensors.numpy.load_file
Contents load_file(const std::string& path);

}  // namespace distribute::saving::safetensors

namespace distribute::saving {

/// Writes a `.keras` file, or an `.h5` or `.hdf5` one, that keras.models.load_model opens: the
/// layers with their options, the shape of the input of the first call, and the weights; no loss,
/// and initializers as Keras has them by default. An activation inside of BatchNormalization
/// becomes a layer behind it, an explicit padding one before. train::Model::save calls it for paths
/// with these endings. The file appears whole or not at all; with several workers every worker
/// calls it, and the chief's file stays. Blocks  until the chief's file is complete. Throws
/// InvalidArgumentError for another ending; FailedPreconditionError for a model that was
///         never called; UnimplementedError for what is no Sequential or Functional, a layer that
///         it cannot describe, and a build without libhdf5 or libzip; what files throw.
/// Source  tf.keras.Model.save
void save_model(nn::Module& model, const std::string& path, const SaveWeightsOptions& options = {});

/// The model of a `.keras` file, or of an `.h5` or `.hdf5` one of Keras 3, with its weights: a
/// Sequential, or a Functional, which is a NamedModule for its inputs and outputs. Its layers have
/// the names of Keras's. What only concerns training anew (initializers, loss, metrics) is left
/// out; load_weights with the same path and an optimizer gives that what the file has for it. Every
/// worker calls it and reads the file. Throws  UnimplementedError that names a layer or an option
/// that is not known here, for a model
///         of Keras 2, and in a build without libhdf5 or libzip; DataLossError for a damaged file;
///         NotFoundError for none, or one of weights alone.
/// Source  tf.keras.models.load_model
std::unique_ptr<nn::Module> load_model(const std::string& path);

}  // namespace distribute::saving
