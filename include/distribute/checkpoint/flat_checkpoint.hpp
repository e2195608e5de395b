#pragma once
/// Values of variables on their way into checkpoints and back.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>

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

}  // namespace distribute::train
