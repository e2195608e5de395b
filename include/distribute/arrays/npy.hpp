#pragma once
/// Files of NumPy: .npy with one array, .npz with named ones.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <map>
#include <string>
#include <string_view>

namespace distribute::arrays {

/// Says what load_npy() and load_npz() do with elements that no dtype has.
struct NpyOptions {
  /// Rounds float64, NumPy's own type, to float32. Without it such an array is an error.
  bool float64_to_float32 = false;
};

/// Reads an array that numpy.save has written: float32, float16, int32, int64, uint8 or bool, of
/// either byte order, row-major or Fortran's order.
/// Throws  NotFoundError; InvalidArgumentError for elements that no dtype has; DataLossError for a
///          file that is not an array, or is cut off or longer than its array.
/// Source  numpy.load; numpy.lib.format
Tensor load_npy(const std::string& path, const NpyOptions& options = {});

/// Writes a tensor as numpy.save does. The file appears whole or not at all.
/// Throws  InvalidArgumentError for bfloat16, which NumPy lacks; the file system's error.
/// Source  numpy.save
void save_npy(const std::string& path, const Tensor& tensor);

/// Reads all arrays of a file that numpy.savez or numpy.savez_compressed has written.
/// Throws  as load_npy(), with the array's name; UnimplementedError in a build without libzip.
/// Source  numpy.load
std::map<std::string, Tensor> load_npz(const std::string& path, const NpyOptions& options = {});

/// Writes tensors as numpy.savez does, without compression.
/// Throws  as save_npy(), with the array's name; InvalidArgumentError for an empty name;
///          UnimplementedError in a build without libzip.
/// Source  numpy.savez
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors);

namespace arrays_internal {
/// Reads an array from the bytes of a .npy file, which errors call `name`.
Tensor decode_npy(std::string_view bytes, const NpyOptions& options, const std::string& name);
std::string encode_npy(const Tensor& tensor, const std::string& name);
}  // namespace arrays_internal

}  // namespace distribute::arrays
