# Finds FarmHash by header and library -> target FarmHash::FarmHash.
find_path(FarmHash_INCLUDE_DIR NAMES farmhash.h)
find_library(FarmHash_LIBRARY NAMES farmhash)
mark_as_advanced(FarmHash_INCLUDE_DIR FarmHash_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FarmHash REQUIRED_VARS FarmHash_LIBRARY FarmHash_INCLUDE_DIR)
if(FarmHash_FOUND AND NOT TARGET FarmHash::FarmHash)
  add_library(FarmHash::FarmHash UNKNOWN IMPORTED)
  set_target_properties(FarmHash::FarmHash PROPERTIES
    IMPORTED_LOCATION "${FarmHash_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${FarmHash_INCLUDE_DIR}")
endif()
