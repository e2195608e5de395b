#pragma once
/// Checkpoint files as tools handle them: found by what people write, compared, and rewritten.

#include <distribute/base/config.hpp>
#include <distribute/checkpoint/bundle_reader.hpp>

#include <string>
#include <vector>

namespace distribute::train {

/// The prefix meant by a prefix, an .index file, or a directory, of which its newest checkpoint is
/// taken. Where the directory was moved, so that its state file names another place, that is
/// logged. Throws  NotFoundError that says what was looked for.
std::string find_checkpoint(const std::string& path);
/// The same, but of a directory all checkpoints that its state file names.
std::vector<std::string> find_checkpoints(const std::string& path);

/// Type and shape of a tensor in a file: "float32 [3,3,1,4]".
std::string type_text(const BundleEntry& entry);
/// Bytes of a tensor's elements; of strings, those in the file.
int64_t num_bytes(const BundleEntry& entry);

/// A tensor that differs between two checkpoints, or is in one of them only, and how it differs.
struct TensorDifference {
  std::string name, reason;
};
/// What differs between two checkpoints, in the order of names; numbers by more than `tolerance`.
/// Throws  what BundleReader throws.
std::vector<TensorDifference> compare_checkpoints(BundleReader& a, BundleReader& b,
                                                  double tolerance = 0);

/// What a tensor is called in a file without an object graph.
enum class FlatNames { Variables, Paths };  // full names of variables; paths of objects

/// Writes the tensors of an object-based checkpoint under flat names, as Saver and load_weights()
/// read them. Returns their number.
/// Throws  InvalidArgumentError for a file without object graph, and for names that occur twice.
int write_flat_checkpoint(BundleReader& from, const std::string& to,
                          FlatNames names = FlatNames::Variables);

}  // namespace distribute::train
