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

/// The value that belongs into a checkpoint: whole, whatever the strategy made of the variable.
Tensor value_to_save(const Variable& variable);
/// The way back: gives every copy its value.
void restore_value(const Variable& variable, const Tensor& value);

void write_tensor(BundleWriter& writer, const std::string& key, const Tensor& value);  // one value
/// One slice of tensor `key`: the rows of a shard.
void write_shard(BundleWriter& writer, const std::string& key, const Tensor& rows,
                 const SaveSliceInfo& info);
/// The tensor `key`, of any dtype that tensors have.
/// Throws  InvalidArgumentError for other dtypes.
Tensor read_tensor(BundleReader& reader, const std::string& key);
/// What tensor `key` has for `variable`: of a shard its rows alone are read. Errors call it
/// `called` where that is not empty.
/// Throws  InvalidArgumentError that names file, tensor and both types when it is not what
///         `variable` needs.
Tensor read_value(BundleReader& reader, const std::string& key, const Variable& variable,
                  const std::string& called = "");
/// The name of the variable in files: for a shard that of the whole.
std::string saved_name(const Variable& variable);
/// Whether it has shards: it may be too large to be had whole.
bool is_cut(const Variable& variable);
/// Whether tensor `key` is a whole of which the variable has some rows.
bool has_rows_in(const BundleReader& reader, const std::string& key, const Variable& variable);
/// Checks type and shape of tensor `key`, and reads through it once for its checksums.
/// Throws  as read_value; DataLossError.
void check_shards(BundleReader& reader, const std::string& key, const Variable& variable,
                  const std::string& called = "");
/// Gives every shard its rows in turn.
void restore_shards(BundleReader& reader, const std::string& key, const Variable& variable);

class BundleReader;

/// The name in a file for a variable's name; unset: the same.
using NameInFile = std::function<std::string(const std::string& name)>;

struct SaveWeightsOptions {  // options of save_weights()
  NameInFile name_in_file = {};
};

/// Writes each variable under its name ("sequential/conv1/kernel") without an object graph, as
/// tf.compat.v1.train.Saver does; shards as slices of one tensor under the name of the whole, which
/// any number of shards can load. With several workers (those of the current strategy) every worker
/// calls it, and the chief's file stays.
/// Throws  what BundleWriter throws; InvalidArgumentError when two variables share a name. Then
///         nothing is written.
/// Source  tf.compat.v1.train.Saver.save, tf.keras.Model.save_weights
void save_weights(const std::string& prefix, const std::vector<Variable>& variables,
                  const SaveWeightsOptions& options = {});

struct LoadWeightsOptions {    // options of load_weights()
  bool skip_missing = false;   // variables that the file does not have keep their values
  bool skip_mismatch = false;  // so do those of another shape or type
  NameInFile name_in_file = {};
};

/// What became of the variables, by their names, and what the file has besides.
struct LoadedWeights {
  std::vector<std::string> loaded, missing, mismatched, unused;
};

/// The way back: gives each variable the value of its name: a key of its own in name-based files
/// (save_weights, tf.compat.v1.train.Saver), the full name of a variable in object-based ones
/// (tf.train.Checkpoint, Keras's save_weights). A file that has none of the names, but some without
/// what stands before the first '/', is one of a model without a name (Keras's functional ones,
/// earlier versions), and is read by those. Every worker calls it and reads the file.
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
