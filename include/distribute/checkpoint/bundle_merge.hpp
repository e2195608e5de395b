#pragma once
/// Makes one checkpoint of the parts that several processes wrote.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute::train {

/// Renames the data files of the parts to those of `prefix`, writes one index over them, and
/// removes the indexes of the parts and their directories where these are empty then. The slices
/// of a partitioned tensor may lie in several parts; a whole tensor may lie in one only. All parts
/// are checked before the first file is touched.
/// Throws  InvalidArgumentError for tensors that occur twice or disagree, and BundleReader's
///         errors for damaged parts.
/// Source  tf.raw_ops.MergeV2Checkpoints
void merge_bundles(const std::vector<std::string>& part_prefixes, const std::string& prefix);

}  // namespace distribute::train
