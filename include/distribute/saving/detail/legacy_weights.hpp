#pragma once
/// The `.h5` files of Keras before its version 3, which Keras 3 can read and write, too.

#include <distribute/base/config.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saving/detail/assign_weights.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>

#include <string>
#include <vector>

namespace distribute::saving_internal {

/// The version of Keras whose formats are written.
inline constexpr const char* kKerasVersion = "3.15.1";

/// Whether a file of this name has that format: `.h5` and `.hdf5`, but not `.weights.h5`.
bool is_legacy_path(const std::string& path);
/// Whether it is a file of that format, with "layer_names".
bool is_legacy(const Hdf5Reader& file);

/// Returns weights alone, or below the group `root`. As reading some weights is an operation
/// between workers, every worker calls it.
/// Throws  InvalidArgumentError if two groups or two weights of one would have the same name.
/// Source  keras.src.legacy.saving.legacy_h5_format.save_weights_to_hdf5_group
Hdf5Contents legacy_weights(const nn::Module& module, const std::string& root = "");
/// Returns a model with its configuration, and with an optimizer unless that is null.
/// Source  keras.src.legacy.saving.legacy_h5_format.save_model_to_hdf5
Hdf5Contents legacy_model(const nn::Module& module, const std::string& config,
                          optim::Optimizer* optimizer);

/// Adds to `weights` the file's values for the module.
void find_in_legacy(const Hdf5Reader& file, const nn::Module& module, bool by_name,
                    WeightAssignment& weights);
/// Returns the paths of an optimizer's variables, in order.
std::vector<std::string> legacy_optimizer_paths(const Hdf5Reader& file);
/// Returns the configuration of a model.
/// Throws  NotFoundError for a file of weights alone; UnimplementedError for one of Keras 2.
std::string legacy_config(const Hdf5Reader& file);

}  // namespace distribute::saving_internal
