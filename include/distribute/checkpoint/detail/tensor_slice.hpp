#pragma once
/// A rectangular part of a partitioned tensor, and the table key under which it is stored.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::train {

/// Part of one dimension; length -1 is the whole dimension.
struct SliceExtent {
  int64_t start = 0;
  int64_t length = -1;
  bool operator==(const SliceExtent&) const = default;
};

/// One extent per dimension. Source  tensorflow/core/framework/tensor_slice.proto
using TensorSlice = std::vector<SliceExtent>;

/// Returns the sizes of a slice of a tensor with sizes `dims`.
/// Throws  InvalidArgumentError when the slice does not lie inside.
std::vector<int64_t> slice_dims(const TensorSlice& slice, const std::vector<int64_t>& dims);

/// Returns the table key of a slice: name and extents in TensorFlow's order-preserving code.
/// Source  tensorflow/core/util/saved_tensor_slice_util.cc, core/lib/strings/ordered_code.cc
std::string slice_key(std::string_view name, const TensorSlice& slice);

/// A range of elements that is contiguous both in the slice and in the whole tensor.
struct SliceRun {
  int64_t tensor_offset = 0;
  int64_t slice_offset = 0;
  int64_t count = 0;
};

/// Cuts a slice into the smallest number of runs, in row-major order.
std::vector<SliceRun> slice_runs(const TensorSlice& slice, const std::vector<int64_t>& dims);

/// Whether an element lies in two of the slices, which are slices of one tensor.
bool slices_overlap(const std::vector<TensorSlice>& slices, const std::vector<int64_t>& dims);

}  // namespace distribute::train
