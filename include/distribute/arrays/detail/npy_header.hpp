#pragma once
/// The head of a .npy file.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distribute::arrays::arrays_internal {

/// Holds what the head says of the array.
struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t size = 0;  // bytes before the first element
};

/// Throws  DataLossError for bytes that do not begin with a head; InvalidArgumentError for an array
///         of records. `name` is the file in messages.
/// Source  numpy.lib.format
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

/// Returns a head of version 1.0, whose size is a multiple of 64 bytes.
std::string encode_npy_header(const NpyHeader& header);

}  // namespace distribute::arrays::arrays_internal
