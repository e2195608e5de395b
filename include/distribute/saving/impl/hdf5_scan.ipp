#pragma once
#if DISTRIBUTE_HAS_HDF5
#include <distribute/base/error.hpp>
#include <distribute/net/message.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/detail/hdf5_library.hpp>
#include <distribute/saving/detail/hdf5_scan.hpp>

#include <cstring>
#include <optional>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE bool is_text(hid_t object, const char* attribute, const std::string& text) {
  if (H5Aexists(object, attribute) <= 0) return false;
  const Hdf5Id found(H5Aopen(object, attribute, H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(H5Aget_type(found), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING) return false;
  if (H5Tis_variable_str(type) <= 0) return false;
  char* value = nullptr;
  const Hdf5Id memory(H5Tcopy(type), H5Tclose);
  if (H5Aread(found, memory, &value) < 0 || !value) return false;
  const bool same = text == value;
  H5free_memory(value);
  return same;
}

/// Sets the dtype of an array, or the name of its type.
DISTRIBUTE_INLINE void describe_type(hid_t set, Hdf5Array& array) {
  const Hdf5Id type(H5Dget_type(set), H5Tclose);
  const size_t bytes = H5Tget_size(type);
  const H5T_class_t kind = H5Tget_class(type);
  const bool is_signed = kind == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2;
  if (kind == H5T_FLOAT && (bytes == 4 || bytes == 8))
    array.dtype = DType::Float32;
  else if (kind == H5T_FLOAT && bytes == 2)
    array.dtype = DType::Float16;
  else if (is_text(set, "dtype", "bfloat16") && bytes == 2)
    array.dtype = DType::BFloat16;
  else if (is_signed && bytes == 4)
    array.dtype = DType::Int32;
  else if (is_signed && bytes == 8)
    array.dtype = DType::Int64;
  else if (kind == H5T_INTEGER && !is_signed && bytes == 1)
    array.dtype = DType::UInt8;
  else if (kind == H5T_ENUM && bytes == 1)  // as h5py writes bool
    array.dtype = DType::Bool;
  else
    array.unknown_type = str_cat(bytes, "-byte values of HDF5's class ", int(kind));
}

/// Arrays whose elements lie in other files are refused.
DISTRIBUTE_INLINE bool lies_inside(hid_t set) {
  const Hdf5Id creation(H5Dget_create_plist(set), H5Pclose);
  return creation && H5Pget_external_count(creation) == 0 && H5Pget_layout(creation) != H5D_VIRTUAL;
}

DISTRIBUTE_INLINE std::optional<Hdf5Array> describe_array(hid_t file, const char* path) {
  const Hdf5Id set(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
  if (!set || !lies_inside(set)) return std::nullopt;
  const Hdf5Id space(H5Dget_space(set), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL) return std::nullopt;
  std::vector<hsize_t> dims(static_cast<size_t>(rank));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  Hdf5Array array;
  std::vector<int64_t> sizes;
  int64_t count = size_of(DType::Int64);
  for (const hsize_t size : dims) {
    if (size > hsize_t(INT64_MAX) || __builtin_mul_overflow(count, int64_t(size), &count))
      return std::nullopt;
    sizes.push_back(int64_t(size));
  }
  array.shape = Shape(sizes);
  describe_type(set, array);
  return array;
}

/// Returns the type of the elements in memory; elements of types unknown to HDF5 are read as bytes.
DISTRIBUTE_INLINE Hdf5Id memory_type(hid_t set, DType dtype) {
  switch (dtype) {
    case DType::Float32: return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
    case DType::Int32: return {H5Tcopy(H5T_NATIVE_INT32), H5Tclose};
    case DType::Int64: return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
    case DType::UInt8: return {H5Tcopy(H5T_NATIVE_UINT8), H5Tclose};
    default: return {H5Dget_type(set), H5Tclose};
  }
}

/// Returns the texts of an attribute; empty if it is something else. Throws for a damaged one.
DISTRIBUTE_INLINE std::vector<std::string> texts_of(hid_t attribute) {
  std::vector<std::string> result;
  const Hdf5Id type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  constexpr hssize_t kMost = 1'000'000;
  if (H5Tget_class(type) != H5T_STRING || count <= 0 || count > kMost) return result;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(size_t(count), nullptr);
    if (H5Aread(attribute, type, texts.data()) < 0) throw DataLossError("an attribute");
    for (char* text : texts) result.emplace_back(text ? text : "");
    return result;  // their memory goes with the process
  }
  const size_t width = H5Tget_size(type);
  if (width > size_t(kMost)) return result;
  std::string all(size_t(count) * width, '\0');
  if (H5Aread(attribute, type, all.data()) < 0) throw DataLossError("an attribute");
  for (hssize_t i = 0; i < count; ++i)
    result.emplace_back(all.substr(size_t(i) * width, width).c_str());
  return result;
}

/// The attributes of one group.
struct AttributeList {
  const std::string& group;
  Hdf5Index& index;
};

/// Called by libhdf5, which does not support exceptions.
DISTRIBUTE_INLINE herr_t note_attribute(hid_t object, const char* name, const H5A_info_t*,
                                        void* list) {
  auto& [group, index] = *static_cast<AttributeList*>(list);
  try {
    const Hdf5Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    if (!attribute) return -1;
    auto texts = texts_of(attribute);
    if (!texts.empty()) index.texts.push_back({group, name, std::move(texts)});
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

DISTRIBUTE_INLINE bool note_group(hid_t file, const char* path, const std::string& name,
                                  Hdf5Index& index) {
  index.groups.push_back(name);
  const Hdf5Id group(H5Gopen2(file, path, H5P_DEFAULT), H5Gclose);
  AttributeList list{name, index};
  return group &&
         H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, note_attribute, &list) >= 0;
}

/// Adds one object of the file; links to other files are ignored.
DISTRIBUTE_INLINE herr_t note_object(hid_t file, const char* path, const H5O_info_t* info,
                                     void* into) {
  auto& index = *static_cast<Hdf5Index*>(into);
  const std::string name = std::string_view(path) == "." ? "" : path;
  try {
    if (info->type == H5O_TYPE_GROUP && !note_group(file, path, name, index)) return -1;
    if (info->type != H5O_TYPE_DATASET) return 0;
    if (const auto array = describe_array(file, path))
      index.arrays.push_back({name,
                              uint8_t(array->dtype),
                              {array->shape.begin(), array->shape.end()},
                              array->unknown_type});
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

/// Whether the file holds as many bytes as the array needs; compressed ones may be smaller.
DISTRIBUTE_INLINE bool is_stored(hid_t set, int64_t elements) {
  constexpr uint64_t kMostCompression = 1100;  // of zlib
  const Hdf5Id type(H5Dget_type(set), H5Tclose), creation(H5Dget_create_plist(set), H5Pclose);
  const uint64_t factor = H5Pget_nfilters(creation) > 0 ? kMostCompression : 1;
  const uint64_t stored = H5Dget_storage_size(set), width = H5Tget_size(type);
  return width > 0 && uint64_t(elements) / factor <= stored / width;
}

/// Returns the elements; nullopt if the array is damaged.
DISTRIBUTE_INLINE std::optional<std::string> elements_of(hid_t file, const std::string& path,
                                                         DType dtype, const Shape& shape) {
  const Hdf5Id set(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  const int64_t count = shape.num_elements();
  if (count == 0) return "";
  if (!set || !is_stored(set, count)) return std::nullopt;
  const Hdf5Id type = memory_type(set, dtype);
  std::string elements(size_t(count) * size_t(size_of(dtype)), '\0');
  if (H5Tget_size(type) != size_t(size_of(dtype)) ||
      H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data()) < 0)
    return std::nullopt;
  return elements;
}

DISTRIBUTE_INLINE bool scan_hdf5(std::string& image,
                                 const std::function<void(std::string_view)>& write) {
  const Hdf5Lock lock;
  const Hdf5Id access = memory_file_access(&image);
  const Hdf5Id file(H5Fopen("memory", H5F_ACC_RDONLY, access), H5Fclose);
  Hdf5Index index;
  if (!file || H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, note_object, &index) < 0) return false;
  const std::string head = net::encode_message(index);
  const uint64_t length = head.size();
  write({reinterpret_cast<const char*>(&length), sizeof length});
  write(head);
  for (const Hdf5Described& array : index.arrays) {
    if (!array.unknown_type.empty()) continue;
    const auto elements = elements_of(file, array.path, DType(array.dtype), Shape(array.sizes));
    write(elements ? "\1" : std::string_view("\0", 1));
    if (elements) write(*elements);
  }
  return true;
}

}  // namespace distribute::saving_internal
#endif
