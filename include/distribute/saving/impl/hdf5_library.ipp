#pragma once
#if DISTRIBUTE_HAS_HDF5
#include <distribute/saving/detail/hdf5_library.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE Hdf5Id memory_file_access(std::string* image) {
  constexpr size_t kGrowth = 1 << 20;
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, kGrowth, false);
  if (image) H5Pset_file_image(access, image->data(), image->size());
  return access;
}

}  // namespace distribute::saving_internal
#endif
