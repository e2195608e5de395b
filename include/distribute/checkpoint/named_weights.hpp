#pragma once
/// Weights by the names of their variables, whatever program and object tree wrote the file.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace distribute::train {

class BundleReader;

struct LoadWeightsOptions {
  bool skip_missing = false;   // variables that the file does not have keep their values
  bool skip_mismatch = false;  // so do those of another shape or type
  /// The name in the file for a variable's name; unset: the same.
  std::function<std::string(const std::string& name)> name_in_file = {};
};

/// What became of the variables, by their names, and what the file has besides.
struct LoadedWeights {
  std::vector<std::string> loaded, missing, mismatched, unused;
};

/// Gives each variable ("conv1/kernel") the value that the file has under that name: as a key of
/// its own in name-based files (save_variables, tf.compat.v1.train.Saver), or as the full name of a
/// variable in object-based ones (tf.train.Checkpoint, Keras's save_weights). Every worker calls it
/// and reads the file.
/// Throws  what BundleReader throws; NotFoundError that names the first variable which the file
///         lacks, InvalidArgumentError the first whose shape or type differ, or whose name stands
///         for two values. Then nothing is assigned.
/// Source  tf.keras.Model.load_weights(by_name=True)
LoadedWeights load_weights(const std::string& prefix, const std::vector<Variable>& variables,
                           const LoadWeightsOptions& options = {});

using WeightKeys = std::map<std::string, std::vector<std::string>>;
/// The keys of all variables of a file by name, without object-based files' "save_counter"; several
/// keys where several variables have one name.
WeightKeys weight_keys(BundleReader& reader);
/// The key of a variable. Errors name `file`.
/// Throws  NotFoundError, with names that there are; InvalidArgumentError for several keys.
const std::string& weight_key(const WeightKeys& keys, const std::string& name,
                              const std::string& file);

}  // namespace distribute::train
