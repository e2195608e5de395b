#pragma once
/// Variables saved under their own names, without an object graph.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace distribute::train {

class BundleReader;
class BundleWriter;

/// Writes each variable under its name ("conv1/kernel"), as tf.compat.v1.train.Saver does; shards
/// as slices of one tensor under the name of the whole, which any number of shards can load. With
/// several workers (those of the current strategy) every worker calls it, and the chief's file
/// stays.
/// Throws  what BundleWriter throws; InvalidArgumentError when two variables share a name.
void save_variables(const std::string& prefix, const std::vector<Variable>& variables);

/// Assigns to each variable the tensor of its name. Every worker calls it and reads the file.
/// Throws  what BundleReader throws; NotFoundError for a name the file lacks;
///         InvalidArgumentError where shape or dtype differ. Then nothing is assigned.
void load_variables(const std::string& prefix, const std::vector<Variable>& variables);

/// The value that belongs into a checkpoint: whole, whatever the strategy made of the variable.
Tensor value_to_save(const Variable& variable);
/// The way back: gives every copy its value.
void restore_value(const Variable& variable, const Tensor& value);

void write_tensor(BundleWriter& writer, const std::string& key, const Tensor& value);
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
/// Whether it has shards: it may be too large to be had whole.
bool is_cut(const Variable& variable);
/// Checks type and shape of tensor `key`, and reads through it once for its checksums.
/// Throws  as read_value; DataLossError.
void check_shards(BundleReader& reader, const std::string& key, const Variable& variable,
                  const std::string& called = "");
/// Gives every shard its rows in turn.
void restore_shards(BundleReader& reader, const std::string& key, const Variable& variable);

}  // namespace distribute::train
