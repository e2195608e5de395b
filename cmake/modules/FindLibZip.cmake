# libzip (Debian: libzip-dev) -> LibZip::LibZip. The package's own CMake files ask for programs of
# other packages.
find_path(LibZip_INCLUDE_DIR zip.h)
find_library(LibZip_LIBRARY zip)

set(LibZip_VERSION "")
if(LibZip_INCLUDE_DIR)
  if(EXISTS "${LibZip_INCLUDE_DIR}/zipconf.h")
    file(STRINGS "${LibZip_INCLUDE_DIR}/zipconf.h" line REGEX "#define LIBZIP_VERSION \"")
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" LibZip_VERSION "${line}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibZip REQUIRED_VARS LibZip_LIBRARY LibZip_INCLUDE_DIR
                                  VERSION_VAR LibZip_VERSION)
mark_as_advanced(LibZip_INCLUDE_DIR LibZip_LIBRARY)

if(LibZip_FOUND AND NOT TARGET LibZip::LibZip)
  add_library(LibZip::LibZip UNKNOWN IMPORTED)
  set_target_properties(LibZip::LibZip PROPERTIES
    IMPORTED_LOCATION "${LibZip_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LibZip_INCLUDE_DIR}")
endif()
