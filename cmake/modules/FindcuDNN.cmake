# Finds cuDNN 8 or 9 -> target cuDNN::cuDNN.
find_path(cuDNN_INCLUDE_DIR NAMES cudnn_version.h
          HINTS ENV CUDNN_PATH ENV CUDNN_ROOT ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(cuDNN_LIBRARY NAMES cudnn libcudnn.so.9 libcudnn.so.8
             HINTS ENV CUDNN_PATH ENV CUDNN_ROOT ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
mark_as_advanced(cuDNN_INCLUDE_DIR cuDNN_LIBRARY)

if(EXISTS "${cuDNN_INCLUDE_DIR}/cudnn_version.h")
  file(STRINGS "${cuDNN_INCLUDE_DIR}/cudnn_version.h" lines
       REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) +[0-9]+")
  list(TRANSFORM lines REPLACE "^.* ([0-9]+).*$" "\\1")
  list(JOIN lines "." cuDNN_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cuDNN REQUIRED_VARS cuDNN_LIBRARY cuDNN_INCLUDE_DIR
                                  VERSION_VAR cuDNN_VERSION)
if(cuDNN_FOUND AND NOT TARGET cuDNN::cuDNN)
  add_library(cuDNN::cuDNN UNKNOWN IMPORTED)
  set_target_properties(cuDNN::cuDNN PROPERTIES
    IMPORTED_LOCATION "${cuDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${cuDNN_INCLUDE_DIR}")
endif()
