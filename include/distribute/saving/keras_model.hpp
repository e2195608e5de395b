#pragma once
/// Whole models in Keras's own formats.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saving/weights.hpp>

#include <memory>
#include <string>

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
