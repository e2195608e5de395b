#pragma once
/// What the ckpt commands share: finding a checkpoint, and its tensors as numbers.

#include <distribute/checkpoint/bundle_reader.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute_tools {

/// The prefix meant by a prefix, an .index file, or a directory (its newest checkpoint).
/// Throws  NotFoundError that says what was looked for.
std::string find_checkpoint(const std::string& path);
/// The same, but all checkpoints that a directory's `checkpoint` file names.
std::vector<std::string> find_checkpoints(const std::string& path);

/// Reads a tensor whatever its type, and throws what is wrong with it.
void check_tensor(distribute::train::BundleReader& reader, const std::string& key);

/// "float32 [3,3,1,4]".
std::string describe(const distribute::train::BundleEntry& entry);
/// Bytes of a tensor's elements; for whole strings those in the file.
int64_t bytes_of(const distribute::train::BundleEntry& entry);

struct TensorDifference {
  std::string name, reason;
};
/// What differs between two checkpoints, in the order of names; numbers by more than `tolerance`.
std::vector<TensorDifference> compare(distribute::train::BundleReader& a,
                                      distribute::train::BundleReader& b, double tolerance);

/// Writes the tensors of an object-based checkpoint under flat names: those of the variables, or
/// the paths of the objects. Returns their number.
/// Throws  InvalidArgumentError for a file without object graph, and for names that occur twice.
int write_flat(distribute::train::BundleReader& from, const std::string& to, bool names_are_paths);

}  // namespace distribute_tools
