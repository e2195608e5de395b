#pragma once
/// Models and weights in Keras's files, and weights in safetensors files.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/saving/weight_names.hpp>
#include <distribute/tensor/tensor.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace distribute::saving {

/// Holds the options of save_weights and save_model.
struct SaveWeightsOptions {
  /// Optimizer whose steps, learning rate and slots ("optimizer/vars/0", ...) are saved: in
  /// `.weights.h5` and models.
  optim::Optimizer* optimizer = nullptr;
  /// Names and arrangement of weights in `.safetensors` files, such as torch_names().
  std::optional<NameRules> names = {};
  /// Largest size of a `.safetensors` file, without its header. Where weights have more,
  /// "x.safetensors" becomes "x-00001-of-00003.safetensors" and so on, with
  /// "x.safetensors.index.json", as Hugging Face names them; a larger tensor is a file by itself.
  /// 0: one file.
  int64_t max_shard_bytes = 0;
};

/// Writes all weights of a module that was called once. The ending chooses the format:
/// `.weights.h5` that of Keras 3 (layers/dense/vars/0, ...), `.h5` and `.hdf5` that of Keras 2,
/// which Keras 3 reads, too, `.safetensors` by the names of the variables. The file appears
/// completely or not at all; of several files none does before all are on the disk, and those of an
/// earlier save are removed afterwards. With several workers every worker calls it, and the chief's
/// file is kept.
/// Blocks  until the chief's file is complete.
/// Throws  InvalidArgumentError for another ending, an optimizer in safetensors or in weights of
///          Keras 2, or shards of other files; FailedPreconditionError for a module without
///          weights; UnimplementedError in a build without libhdf5; errors of files.
/// Source  tf.keras.Model.save_weights
void save_weights(nn::Module& module, const std::string& path,
                  const SaveWeightsOptions& options = {});

/// Holds the options of load_weights.
struct LoadWeightsOptions {
  /// Matches layers by their names, and those that the file does not have keep their values; else
  /// layers are matched by their position in the model. `.safetensors` and ResNet are always
  /// matched by name.
  bool by_name = false;
  /// Weights that the file does not have, or of another shape or type, keep their values.
  bool skip_mismatch = false;
  /// Optimizer that gets steps, learning rate and slots from files of Keras 3, for the trained
  /// variables in the order of Keras. It may not be a Nadam.
  optim::Optimizer* optimizer = nullptr;
  /// Names and arrangement of weights in `.safetensors` files, such as torch_names(). Names of the
  /// file may all have the same part in front ("module."), or lack it ("transformer.").
  std::optional<NameRules> names = {};
  /// Prints which tensor of the file would become which variable, and what is missing or does not
  /// fit, and assigns nothing; it needs `names`.
  bool dry_run = false;
};

/// Gives a module that was called once the weights of a file: `.weights.h5` and `.keras` of Keras
/// 3, `.h5` of Keras 2 and 3 (weights alone or with a model), `.safetensors`, or the
/// `.safetensors.index.json` of several, which is also found by the name "x.safetensors" where that
/// file does not exist. All values are read and checked before the first is assigned. Floating
/// values take the dtype of the variable. Every worker calls it and reads the file.
/// Throws  NotFoundError for a file, a weight or an optimizer that is missing, InvalidArgumentError
///          for one of another shape, with variable, file and both shapes; DataLossError for a
///          damaged file; UnimplementedError in a build without libhdf5 or libzip. Then nothing is
///          assigned.
/// Source  tf.keras.Model.load_weights
train::LoadedWeights load_weights(nn::Module& module, const std::string& path,
                                  const LoadWeightsOptions& options = {});

}  // namespace distribute::saving

namespace distribute::saving::safetensors {

using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

/// Contents of a file.
struct Contents {
  Tensors tensors;
  Metadata metadata;  // "__metadata__" of the header
};

/// Source  https://huggingface.co/docs/safetensors, safetensors.serialize
std::string serialize(const Tensors& tensors, const Metadata& metadata = {});

/// Parses a file's bytes. Every offset is checked: the tensors fill the file without gap or
/// overlap. Errors call the file `name`.
/// Throws  DataLossError for bytes that are not such a file, or are damaged; UnimplementedError for
///          an element type that tensors here cannot have.
/// Source  safetensors.deserialize
Contents deserialize(std::string_view bytes, const std::string& name);

/// Writes a file, which appears completely or not at all.
/// Throws  errors of files (PermissionDeniedError, ResourceExhaustedError, ...).
/// Source  safetensors.numpy.save_file
void save_file(const Tensors& tensors, const std::string& path, const Metadata& metadata = {});

/// Reads a file.
/// Throws  NotFoundError; as deserialize.
/// Source  safetensors.numpy.load_file
Contents load_file(const std::string& path);

}  // namespace distribute::saving::safetensors

namespace distribute::saving {

/// Writes a `.keras` file, or an `.h5` or `.hdf5` one, that keras.models.load_model opens: the
/// layers with their options, the shape of the input of the first call, and the weights; no loss,
/// and Keras's default initializers. An activation inside of BatchNormalization becomes a layer
/// behind it, an explicit padding one before. train::Model::save calls it for paths with these
/// endings. The file appears completely or not at all; with several workers every worker calls it,
/// and the chief's file is kept.
/// Blocks  until the chief's file is complete.
/// Throws  InvalidArgumentError for another ending; FailedPreconditionError for a model that was
///          never called; UnimplementedError for a module other than Sequential and Functional, a
///          layer that it cannot describe, and a build without libhdf5 or libzip; errors of files.
/// Source  tf.keras.Model.save
void save_model(nn::Module& model, const std::string& path, const SaveWeightsOptions& options = {});

/// Returns the model of a `.keras` file, or of an `.h5` or `.hdf5` one of Keras 3, with its
/// weights: a Sequential, or a Functional, which is a NamedModule for its inputs and outputs. Its
/// layers have the names of Keras's. Settings that only concern a new training (initializers, loss,
/// metrics) are left out; load_weights with the same path restores an optimizer. Every worker calls
/// it and reads the file.
/// Throws  UnimplementedError that names an unknown layer or option, for a model of Keras 2, and in
///          a build without libhdf5 or libzip; DataLossError for a damaged file; NotFoundError for
///          a missing one, or one of weights alone.
/// Source  tf.keras.models.load_model
std::unique_ptr<nn::Module> load_model(const std::string& path);

/// Writes the matrices of all layers with LoRA to a `.safetensors` file, under the places of the
/// layers in the model, "h.0.attn.query.lora_kernel_a", with the alphas in the metadata. With
/// several workers every worker calls it, and the chief's file is kept.
/// Blocks  until the chief's file is complete.
/// Throws  InvalidArgumentError for another ending; FailedPreconditionError for a model without
///          LoRA; errors of files.
/// Source  keras_hub.models.Backbone.save_lora_weights
void save_lora_weights(nn::Module& model, const std::string& path);

/// Reads the matrices of the layers with LoRA. enable_lora() must have been called with the rank
/// and the alpha of the file. Tensors of the file that no layer has are listed in `unused`. Throws
/// NotFoundError for a file, or a matrix that it lacks; InvalidArgumentError for another
///          rank or alpha; FailedPreconditionError for a model without LoRA; DataLossError for a
///          damaged file. Then nothing is assigned.
/// Source  keras_hub.models.Backbone.load_lora_weights
train::LoadedWeights load_lora_weights(nn::Module& model, const std::string& path);

}  // namespace distribute::saving
