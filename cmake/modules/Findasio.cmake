# Finds standalone Asio (headers only) -> target asio::asio.
find_path(asio_INCLUDE_DIR NAMES asio.hpp)
mark_as_advanced(asio_INCLUDE_DIR)

if(EXISTS "${asio_INCLUDE_DIR}/asio/version.hpp")
  file(STRINGS "${asio_INCLUDE_DIR}/asio/version.hpp" line REGEX "^#define ASIO_VERSION ")
  string(REGEX REPLACE ".*// *([0-9.]+).*" "\\1" asio_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(asio REQUIRED_VARS asio_INCLUDE_DIR VERSION_VAR asio_VERSION)
if(asio_FOUND AND NOT TARGET asio::asio)
  add_library(asio::asio INTERFACE IMPORTED)
  set_target_properties(asio::asio PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${asio_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS ASIO_STANDALONE)
endif()
