#pragma once
#include <distribute/arrays/array_view.hpp>
#include <distribute/arrays/detail/npy_header.hpp>
#include <distribute/arrays/npy.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/saving/zip_file.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::arrays {

namespace arrays_internal {

struct NpyType {
  std::string_view descr;  // without the byte order
  DType dtype;
};
inline constexpr NpyType kNpyTypes[] = {{"f4", DType::Float32}, {"f2", DType::Float16},
                                        {"i4", DType::Int32},   {"i8", DType::Int64},
                                        {"u1", DType::UInt8},   {"b1", DType::Bool}};
inline constexpr std::string_view kFloat64 = "f8";

DISTRIBUTE_INLINE std::optional<DType> dtype_of_descr(std::string_view type) {
  for (const NpyType& known : kNpyTypes)
    if (known.descr == type) return known.dtype;
  return {};
}

/// Returns "f4" of "<f4", after a check that the elements can be read.
DISTRIBUTE_INLINE std::string element_type(const NpyHeader& header, const NpyOptions& options,
                                           const std::string& name) {
  const std::string& descr = header.descr;
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) < 4;
  const std::string type = has_order ? descr.substr(1) : descr;
  if (dtype_of_descr(type) || (type == kFloat64 && options.float64_to_float32)) return type;
  const char* const cure =
      type == kFloat64 ? "; save .astype('float32'), or load with {.float64_to_float32 = true}"
                       : "; save it as float32, float16, int32, int64, uint8 or bool";
  throw InvalidArgumentError(str_cat(name, ": no dtype has elements of NumPy's type '",
                                     untrusted::printable(descr, 20), "'", cure));
}

/// Returns the bytes of all elements; nothing when their number does not fit an int64_t.
DISTRIBUTE_INLINE std::optional<int64_t> bytes_of(const std::vector<int64_t>& shape, int64_t size) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t bytes = size;
  for (const int64_t axis : shape)
    if (__builtin_mul_overflow(bytes, axis, &bytes)) return {};
  return bytes;
}

/// Returns the elements with the byte order of this machine, the little-endian one.
DISTRIBUTE_INLINE std::string with_own_order(std::string_view elements, char order, int64_t size) {
  std::string own(elements);
  if (order == '>')
    for (size_t begin = 0; begin + size_t(size) <= own.size(); begin += size_t(size))
      std::reverse(own.begin() + int64_t(begin), own.begin() + int64_t(begin) + size);
  return own;
}

/// Makes 1 of every byte that is not 0: no other bytes are values of bool.
DISTRIBUTE_INLINE void make_bools(std::string& bytes) {
  for (char& byte : bytes) byte = byte != 0;
}

/// Returns float64 elements as float32 ones.
DISTRIBUTE_INLINE std::string narrowed(const std::string& elements) {
  std::string floats(elements.size() / 2, '\0');
  for (size_t i = 0; i < elements.size() / sizeof(double); ++i) {
    double value;
    std::memcpy(&value, elements.data() + i * sizeof value, sizeof value);
    const float rounded = float(value);
    std::memcpy(floats.data() + i * sizeof rounded, &rounded, sizeof rounded);
  }
  return floats;
}

DISTRIBUTE_INLINE Shape shape_of(const NpyHeader& header, const std::string& name) {
  if (header.shape.size() > size_t(Shape::kMaxRank))
    throw InvalidArgumentError(str_cat(name, ": an array of ", header.shape.size(),
                                       " axes; tensors have at most ", Shape::kMaxRank));
  return Shape(std::span<const int64_t>(header.shape));
}

DISTRIBUTE_INLINE std::vector<int64_t> fortran_strides(const Shape& shape) {
  std::vector<int64_t> strides;
  int64_t below = 1;
  for (const int64_t size : shape) {
    strides.push_back(below);
    below *= size;
  }
  return strides;
}

DISTRIBUTE_INLINE Tensor decode_npy(std::string_view bytes, const NpyOptions& options,
                                    const std::string& name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  const std::string type = element_type(header, options, name);
  const Shape shape = shape_of(header, name);
  const int64_t size = type == kFloat64 ? 8 : size_of(*dtype_of_descr(type));
  const std::string_view elements = bytes.substr(header.size);
  const std::optional<int64_t> wanted = bytes_of(header.shape, size);
  if (!wanted || uint64_t(*wanted) != elements.size())
    throw DataLossError(str_cat(name, ": ", elements.size(),
                                " bytes of elements, and an array of shape ", to_string(shape),
                                " has ", wanted ? str_cat(*wanted) : "more than a file can have"));
  std::string own = with_own_order(elements, header.descr[0], size);
  if (type == kFloat64) own = narrowed(own);
  if (type == "b1") make_bools(own);
  ArrayView array{own.data(), dtype_of_descr(type).value_or(DType::Float32), shape, {}};
  if (header.fortran_order) array.strides = fortran_strides(shape);
  return copy(array);
}

DISTRIBUTE_INLINE std::string encode_npy(const Tensor& tensor, const std::string& name) {
  NpyHeader header;
  for (const NpyType& known : kNpyTypes)
    if (known.dtype == tensor.dtype())
      header.descr = str_cat(size_of(known.dtype) == 1 ? "|" : "<", known.descr);
  if (header.descr.empty())
    throw InvalidArgumentError(str_cat(name, ": NumPy has no type for ", name_of(tensor.dtype()),
                                       "; cast the tensor to float32 first"));
  header.shape.assign(tensor.shape().begin(), tensor.shape().end());
  std::string bytes = encode_npy_header(header);
  const ArrayView array = array_view(tensor);
  bytes.append(static_cast<const char*>(array.data),
               size_t(tensor.num_elements() * size_of(tensor.dtype())));
  return bytes;
}

}  // namespace arrays_internal

DISTRIBUTE_INLINE Tensor load_npy(const std::string& path, const NpyOptions& options) {
  return arrays_internal::decode_npy(value_or_throw(io::read_file(path)), options, path);
}

DISTRIBUTE_INLINE void save_npy(const std::string& path, const Tensor& tensor) {
  throw_if_error(io::write_file_atomically(path, arrays_internal::encode_npy(tensor, path)));
}

DISTRIBUTE_INLINE std::map<std::string, Tensor> load_npz(const std::string& path,
                                                         const NpyOptions& options) {
  const std::string bytes = value_or_throw(io::read_file(path));
  std::map<std::string, Tensor> tensors;
  for (const std::string& entry : saving::zip_entries(bytes, path)) {
    const std::string name = entry.ends_with(".npy") ? entry.substr(0, entry.size() - 4) : entry;
    const std::string contents = saving::read_zip_entry(bytes, entry, path);
    tensors[name] = arrays_internal::decode_npy(contents, options, str_cat(path, ": ", name));
  }
  return tensors;
}

DISTRIBUTE_INLINE void save_npz(const std::string& path,
                                const std::map<std::string, Tensor>& tensors) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, tensor] : tensors) {
    if (name.empty()) throw InvalidArgumentError(str_cat(path, ": an array without a name"));
    files.emplace_back(name + ".npy",
                       arrays_internal::encode_npy(tensor, str_cat(path, ": ", name)));
  }
  throw_if_error(io::write_file_atomically(path, saving::encode_zip(files)));
}

}  // namespace distribute::arrays
