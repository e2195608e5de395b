#pragma once
/// Checkpoints with flat names, as tf.compat.v1.train.Saver writes them.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace distribute::train {

class BundleReader;
class BundleWriter;

/// Returns the value that a checkpoint holds: the whole tensor, however the strategy stores the
/// variable.
Tensor value_to_save(const Variable& variable);
/// Assigns a checkpoint's value to every copy of the variable.
void restore_value(const Variable& variable, const Tensor& value);

void write_tensor(BundleWriter& writer, const std::string& key, const Tensor& value);  // one value
/// Writes one slice of tensor `key`: the rows of a shard.
void write_shard(BundleWriter& writer, const std::string& key, const Tensor& rows,
                 const SaveSliceInfo& info);
/// Reads the tensor `key`, of any dtype that tensors have.
/// Throws  InvalidArgumentError for other dtypes.
Tensor read_tensor(BundleReader& reader, const std::string& key);
/// Reads the value of tensor `key` for `variable`, only its rows if that is a shard. Errors call
/// the variable `called` if that is not empty.
/// Throws  InvalidArgumentError that names file, tensor and both types when dtype or shape do not
///          fit.
Tensor read_value(BundleReader& reader, const std::string& key, const Variable& variable,
                  const std::string& called = "");
/// Returns the name of the variable in files; for a shard the name of the whole variable.
std::string saved_name(const Variable& variable);
/// Returns whether the variable has shards, and may be too large to be held whole.
bool is_cut(const Variable& variable);
/// Returns whether tensor `key` is a whole tensor of which the variable has some rows.
bool has_rows_in(const BundleReader& reader, const std::string& key, const Variable& variable);
/// Checks type and shape of tensor `key`, and reads it once to verify its checksums.
/// Throws  as read_value; DataLossError.
void check_shards(BundleReader& reader, const std::string& key, const Variable& variable,
                  const std::string& called = "");
/// Restores the rows of every shard, one shard after the other.
void restore_shards(BundleReader& reader, const std::string& key, const Variable& variable);

class BundleReader;

/// Returns the name in a file for a variable's name; an empty function stands for the same name.
using NameInFile = std::function<std::string(const std::string& name)>;

struct SaveWeightsOptions {  // options of save_weights()
  NameInFile name_in_file = {};
};

/// Writes each variable under its name ("sequential/conv1/kernel") without an object graph, as
/// tf.compat.v1.train.Saver does. Shards are written as slices of one tensor under the name of the
/// whole, which any number of shards can load. With several workers (those of the current strategy)
/// every worker calls it, and the chief's file is kept.
/// Throws  what BundleWriter throws; InvalidArgumentError when two variables share a name. Then
///          nothing is written.
/// Source  tf.compat.v1.train.Saver.save, tf.keras.Model.save_weights
void save_weights(const std::string& prefix, const std::vector<Variable>& variables,
                  const SaveWeightsOptions& options = {});

struct LoadWeightsOptions {    // options of load_weights()
  bool skip_missing = false;   // variables that the file does not have keep their values
  bool skip_mismatch = false;  // variables of another shape or dtype keep their values, too
  NameInFile name_in_file = {};
};

/// Result of load_weights(): the variables by name, and keys of the file that were not used.
struct LoadedWeights {
  std::vector<std::string> loaded, missing, mismatched, unused;
};

/// Gives each variable the value of its name: in name-based files (save_weights,
/// tf.compat.v1.train.Saver) the tensor of that key, in object-based ones (tf.train.Checkpoint,
/// Keras's save_weights) the variable with that full name. If a file has none of the names, but
/// some of them without the part before the first '/', it is the file of a model without a name
/// (Keras's functional ones, earlier versions), and is read by the shorter names. Every worker
/// calls it and reads the file.
/// Throws  what BundleReader throws; NotFoundError that names the first variable which the file
///          lacks, InvalidArgumentError the first whose shape or type differ, or whose name stands
///          for two values. Then nothing is assigned.
/// Source  tf.keras.Model.load_weights(by_name=True)
LoadedWeights load_weights(const std::string& prefix, const std::vector<Variable>& variables,
                           const LoadWeightsOptions& options = {});

using WeightKeys = std::map<std::string, std::vector<std::string>>;
/// Returns the keys of all variables of a file by name, without object-based files' "save_counter";
/// a name has several keys if several variables have it.
WeightKeys weight_keys(BundleReader& reader);
/// Returns the key of a variable. Errors name `file`.
/// Throws  NotFoundError, with names that the file has; InvalidArgumentError for several keys.
const std::string& weight_key(const WeightKeys& keys, const std::string& name,
                              const std::string& file);

}  // namespace distribute::train
