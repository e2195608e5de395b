# libhdf5 (Debian: libhdf5-dev), its C library without MPI -> HDF5C::HDF5C. CMake's own FindHDF5
# needs the language C or a compiler wrapper.
find_path(HDF5C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5C_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)

set(HDF5C_VERSION "")
if(HDF5C_INCLUDE_DIR)
  file(GLOB headers "${HDF5C_INCLUDE_DIR}/H5pubconf*.h")
  foreach(header IN LISTS headers)
    file(STRINGS "${header}" line REGEX "#define H5_PACKAGE_VERSION \"")
    if(line)
      string(REGEX REPLACE ".*\"(.*)\".*" "\\1" HDF5C_VERSION "${line}")
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HDF5C REQUIRED_VARS HDF5C_LIBRARY HDF5C_INCLUDE_DIR
                                  VERSION_VAR HDF5C_VERSION)
mark_as_advanced(HDF5C_INCLUDE_DIR HDF5C_LIBRARY)

if(HDF5C_FOUND AND NOT TARGET HDF5C::HDF5C)
  add_library(HDF5C::HDF5C UNKNOWN IMPORTED)
  set_target_properties(HDF5C::HDF5C PROPERTIES
    IMPORTED_LOCATION "${HDF5C_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${HDF5C_INCLUDE_DIR}")
endif()
