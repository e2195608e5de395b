# Finds oneDNN 2.x or 3.x by header and library -> target oneDNN::oneDNN.
# Its own package file is not used: Debian's asks for OpenCL development files that nothing needs.
find_path(oneDNN_INCLUDE_DIR NAMES oneapi/dnnl/dnnl.hpp dnnl.hpp HINTS ENV DNNLROOT PATH_SUFFIXES include)
find_library(oneDNN_LIBRARY NAMES dnnl HINTS ENV DNNLROOT PATH_SUFFIXES lib lib64)
mark_as_advanced(oneDNN_INCLUDE_DIR oneDNN_LIBRARY)

foreach(header IN ITEMS oneapi/dnnl/dnnl_version.h dnnl_version.h)
  if(NOT oneDNN_VERSION AND EXISTS "${oneDNN_INCLUDE_DIR}/${header}")
    file(STRINGS "${oneDNN_INCLUDE_DIR}/${header}" lines
         REGEX "^#define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    list(TRANSFORM lines REPLACE "^.* ([0-9]+).*$" "\\1")
    list(JOIN lines "." oneDNN_VERSION)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS oneDNN_LIBRARY oneDNN_INCLUDE_DIR
                                  VERSION_VAR oneDNN_VERSION)
if(oneDNN_FOUND AND NOT TARGET oneDNN::oneDNN)
  add_library(oneDNN::oneDNN UNKNOWN IMPORTED)
  set_target_properties(oneDNN::oneDNN PROPERTIES
    IMPORTED_LOCATION "${oneDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${oneDNN_INCLUDE_DIR}")
endif()
