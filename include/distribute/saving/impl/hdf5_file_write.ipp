#pragma once
#if DISTRIBUTE_HAS_HDF5
#include <distribute/base/error.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>
#include <distribute/saving/detail/hdf5_library.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE bool has_hdf5() { return true; }

/// The type of the elements in a file.
DISTRIBUTE_INLINE Hdf5Id file_type(DType dtype) {
  switch (dtype) {
    case DType::Float32: return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case DType::Int32: return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case DType::Int64: return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
    case DType::UInt8: return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
    case DType::BFloat16: {  // as h5py writes the two bytes of ml_dtypes.bfloat16
      Hdf5Id type(H5Tcreate(H5T_OPAQUE, 2), H5Tclose);
      H5Tset_tag(type, "");
      return type;
    }
    case DType::Float16: {
      Hdf5Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
      H5Tset_fields(type, 15, 10, 5, 0, 10);
      H5Tset_size(type, 2);
      H5Tset_ebias(type, 15);
      return type;
    }
    case DType::Bool: {
      Hdf5Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
      const int8_t no = 0, yes = 1;
      H5Tenum_insert(type, "FALSE", &no);
      H5Tenum_insert(type, "TRUE", &yes);
      return type;
    }
  }
  throw InternalError("HDF5: a new dtype");
}

DISTRIBUTE_INLINE bool write_texts(hid_t object, const std::string& attribute, hid_t space,
                                   const std::vector<const char*>& texts) {
  const Hdf5Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const Hdf5Id made(H5Acreate2(object, attribute.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose);
  return made && (texts.empty() || H5Awrite(made, type, texts.data()) >= 0);
}

DISTRIBUTE_INLINE bool write_text(hid_t object, const std::string& attribute,
                                  const std::string& text) {
  const Hdf5Id space(H5Screate(H5S_SCALAR), H5Sclose);
  return write_texts(object, attribute, space, {text.c_str()});
}

DISTRIBUTE_INLINE bool write_list(hid_t object, const std::string& attribute,
                                  const std::vector<std::string>& texts) {
  const hsize_t count = texts.size();
  const Hdf5Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return write_texts(object, attribute, space, pointers);
}

DISTRIBUTE_INLINE bool write_array(hid_t file, const std::string& path, const Tensor& value,
                                   hid_t with_parents) {
  const bool gpu = value.device().type == DeviceType::Gpu;
  const Tensor plain = (gpu ? value.to(Device{}) : value).row_major();
  const std::vector<hsize_t> dims(plain.shape().begin(), plain.shape().end());
  const Hdf5Id space(dims.empty() ? H5Screate(H5S_SCALAR)
                                  : H5Screate_simple(int(dims.size()), dims.data(), nullptr),
                     H5Sclose);
  const Hdf5Id type = file_type(plain.dtype());
  const Hdf5Id set(
      H5Dcreate2(file, path.c_str(), type, space, with_parents, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  if (!set) return false;
  if (plain.dtype() == DType::BFloat16 && !write_text(set, "dtype", "bfloat16")) return false;
  return plain.num_elements() == 0 ||
         H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, plain.array().bytes()) >= 0;
}

DISTRIBUTE_INLINE Hdf5Id open_or_make(hid_t file, const std::string& group, hid_t with_parents) {
  const std::string path = "/" + group;
  Hdf5Id found(H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose);
  if (found) return found;
  return {H5Gcreate2(file, path.c_str(), with_parents, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

DISTRIBUTE_INLINE bool write_contents(hid_t file, const Hdf5Contents& contents) {
  const Hdf5Id with_parents(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(with_parents, 1);
  for (const auto& [group, texts] : contents.attributes) {
    const Hdf5Id made = open_or_make(file, group, with_parents);
    for (const auto& [attribute, text] : texts)
      if (!made || !write_text(made, attribute, text)) return false;
  }
  for (const auto& [group, lists] : contents.lists) {
    const Hdf5Id made = open_or_make(file, group, with_parents);
    for (const auto& [attribute, texts] : lists)
      if (!made || !write_list(made, attribute, texts)) return false;
  }
  for (const auto& [path, value] : contents.arrays)
    if (!write_array(file, path, value, with_parents)) return false;
  return H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
}

DISTRIBUTE_INLINE std::string encode_hdf5(const Hdf5Contents& contents) {
  const Hdf5Lock lock;
  const Hdf5Id access = memory_file_access(nullptr);
  const Hdf5Id file(H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
  if (!file || !write_contents(file, contents))
    throw InternalError("HDF5: the library could not put the weights into a file");
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  std::string bytes(size > 0 ? size_t(size) : 0, '\0');
  if (size <= 0 || H5Fget_file_image(file, bytes.data(), bytes.size()) != size)
    throw InternalError("HDF5: the library did not give the bytes of the file");
  return bytes;
}

}  // namespace distribute::saving_internal
#endif
