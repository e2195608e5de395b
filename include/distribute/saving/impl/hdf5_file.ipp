#pragma once
#if DISTRIBUTE_HAS_HDF5
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/saving/detail/hdf5_file.hpp>

#include <mutex>
#include <optional>
#include <utility>

#include <hdf5.h>

namespace distribute::saving_internal {

/// The library has one state, for one thread at a time.
struct Hdf5Mutex {
  std::recursive_mutex mutex;
};

/// One call into the library: locked, and its own reports kept off stderr.
class Hdf5Lock {
 public:
  Hdf5Lock() : lock_(in_process<Hdf5Mutex>().mutex) {
    H5Eget_auto2(H5E_DEFAULT, &report_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Lock() { H5Eset_auto2(H5E_DEFAULT, report_, data_); }
  Hdf5Lock(const Hdf5Lock&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t report_ = nullptr;
  void* data_ = nullptr;
};

/// Owns an identifier of the library.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  ~Hdf5Id() {
    if (id_ >= 0) close_(id_);
  }
  explicit operator bool() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

struct Hdf5Reader::State {
  std::string name;
  std::optional<Hdf5Id> file;
  std::map<std::string, Hdf5Array> arrays;
  std::vector<std::string> groups;

  ~State() {
    const Hdf5Lock lock;
    file.reset();
  }
};

/// A file in memory, with `image` in it.
DISTRIBUTE_INLINE Hdf5Id memory_file_access(std::string* image) {
  constexpr size_t kGrowth = 1 << 20;
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, kGrowth, false);
  if (image) H5Pset_file_image(access, image->data(), image->size());
  return access;
}

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

/// The dtype of an array, or the name of what it is.
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

/// One object of the file; links to other files are no objects of it.
DISTRIBUTE_INLINE herr_t note_object(hid_t file, const char* path, const H5O_info_t* info,
                                     void* list) {
  auto& [groups, arrays] =
      *static_cast<std::pair<std::vector<std::string>*, std::map<std::string, Hdf5Array>*>*>(list);
  const std::string name = std::string_view(path) == "." ? "" : path;
  try {
    if (info->type == H5O_TYPE_GROUP) groups->push_back(name);
    if (info->type == H5O_TYPE_DATASET)
      if (const auto array = describe_array(file, path)) arrays->emplace(name, *array);
  } catch (const std::exception&) {
    return -1;  // no exception passes through the library
  }
  return 0;
}

DISTRIBUTE_INLINE bool has_hdf5() { return true; }

DISTRIBUTE_INLINE Hdf5Reader::Hdf5Reader(std::string bytes, std::string name)
    : state_(std::make_unique<State>()) {
  const Hdf5Lock lock;
  state_->name = std::move(name);
  const Hdf5Id access = memory_file_access(&bytes);
  state_->file.emplace(H5Fopen("memory", H5F_ACC_RDONLY, access), H5Fclose);
  std::pair<std::vector<std::string>*, std::map<std::string, Hdf5Array>*> list{&state_->groups,
                                                                               &state_->arrays};
  if (!*state_->file || H5Ovisit(*state_->file, H5_INDEX_NAME, H5_ITER_INC, note_object, &list) < 0)
    throw DataLossError(str_cat(state_->name, ": no HDF5 file, or damaged or cut off (it has ",
                                bytes.size(), " bytes)"));
}

DISTRIBUTE_INLINE Hdf5Reader::~Hdf5Reader() = default;
DISTRIBUTE_INLINE Hdf5Reader::Hdf5Reader(Hdf5Reader&&) noexcept = default;
DISTRIBUTE_INLINE const std::string& Hdf5Reader::name() const { return state_->name; }
DISTRIBUTE_INLINE const std::map<std::string, Hdf5Array>& Hdf5Reader::arrays() const {
  return state_->arrays;
}
DISTRIBUTE_INLINE const std::vector<std::string>& Hdf5Reader::groups() const {
  return state_->groups;
}

DISTRIBUTE_INLINE std::vector<std::string> Hdf5Reader::texts(const std::string& group,
                                                             const std::string& attribute) const {
  const Hdf5Lock lock;
  std::vector<std::string> result;
  const Hdf5Id object(H5Gopen2(*state_->file, ("/" + group).c_str(), H5P_DEFAULT), H5Gclose);
  if (!object || H5Aexists(object, attribute.c_str()) <= 0) return result;
  const Hdf5Id found(H5Aopen(object, attribute.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(H5Aget_type(found), H5Tclose), space(H5Aget_space(found), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  constexpr hssize_t kMost = 1'000'000;
  if (H5Tget_class(type) != H5T_STRING || count <= 0 || count > kMost) return result;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> texts(size_t(count), nullptr);
    if (H5Aread(found, type, texts.data()) < 0) return result;
    for (char* text : texts) result.emplace_back(text ? text : "");
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data());
    return result;
  }
  const size_t width = H5Tget_size(type);
  if (width > size_t(kMost)) return result;
  std::string all(size_t(count) * width, '\0');
  if (H5Aread(found, type, all.data()) < 0) return result;
  for (hssize_t i = 0; i < count; ++i)
    result.emplace_back(all.substr(size_t(i) * width, width).c_str());
  return result;
}

/// The type of the elements in memory; those that HDF5 does not know are their bytes.
DISTRIBUTE_INLINE Hdf5Id memory_type(hid_t set, DType dtype) {
  switch (dtype) {
    case DType::Float32: return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
    case DType::Int32: return {H5Tcopy(H5T_NATIVE_INT32), H5Tclose};
    case DType::Int64: return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
    case DType::UInt8: return {H5Tcopy(H5T_NATIVE_UINT8), H5Tclose};
    default: return {H5Dget_type(set), H5Tclose};
  }
}

DISTRIBUTE_INLINE Tensor Hdf5Reader::read(const std::string& path) const {
  const Hdf5Array& array = state_->arrays.at(path);
  if (!array.unknown_type.empty())
    throw UnimplementedError(str_cat(state_->name, ": '", path, "' has ", array.unknown_type,
                                     ", which tensors here cannot be"));
  const Hdf5Lock lock;
  const Hdf5Id set(H5Dopen2(*state_->file, path.c_str(), H5P_DEFAULT), H5Dclose);
  Tensor value = Tensor::empty(array.shape, array.dtype, Device{});
  const Hdf5Id type = memory_type(set, array.dtype);
  if (array.shape.num_elements() > 0 &&
      H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.array().bytes()) < 0)
    throw DataLossError(str_cat(state_->name, ": '", path, "' is damaged or cut off"));
  return value;
}

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
