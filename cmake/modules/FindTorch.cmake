# libtorch 2.6 or newer (PyPI's torch, or an archive of pytorch.org) -> Torch::Torch. Torch_ROOT or
# CMAKE_PREFIX_PATH names its folder, which has include/ and lib/. libtorch's own TorchConfig.cmake of a
# build for GPUs needs CUDA's toolkit; this module does not.
if(TARGET torch_cpu AND NOT TARGET Torch::Torch)
  get_target_property(Torch_LIBRARY torch_cpu LOCATION)
  cmake_path(GET Torch_LIBRARY PARENT_PATH Torch_ROOT)
  cmake_path(GET Torch_ROOT PARENT_PATH Torch_ROOT)
endif()
find_path(Torch_INCLUDE_DIR torch/csrc/distributed/c10d/Backend.hpp)
find_path(Torch_API_INCLUDE_DIR torch/torch.h
          HINTS "${Torch_INCLUDE_DIR}/torch/csrc/api/include" PATH_SUFFIXES torch/csrc/api/include)
foreach(library IN ITEMS torch torch_cpu c10)
  find_library(Torch_${library}_LIBRARY ${library} HINTS "${Torch_INCLUDE_DIR}/../lib")
endforeach()

set(Torch_VERSION "")
foreach(header IN ITEMS "${Torch_INCLUDE_DIR}/torch/headeronly/version.h"
                        "${Torch_API_INCLUDE_DIR}/torch/version.h")
  if(NOT Torch_VERSION AND EXISTS "${header}")
    file(STRINGS "${header}" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]")
    list(TRANSFORM lines REPLACE ".* ([0-9]+)$" "\\1")
    list(JOIN lines "." Torch_VERSION)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch
  REQUIRED_VARS Torch_torch_LIBRARY Torch_torch_cpu_LIBRARY Torch_c10_LIBRARY Torch_INCLUDE_DIR
                Torch_API_INCLUDE_DIR
  VERSION_VAR Torch_VERSION)
mark_as_advanced(Torch_INCLUDE_DIR Torch_API_INCLUDE_DIR Torch_torch_LIBRARY Torch_torch_cpu_LIBRARY
                 Torch_c10_LIBRARY)

if(Torch_FOUND AND NOT TARGET Torch::Torch)
  add_library(Torch::Torch INTERFACE IMPORTED)
  target_include_directories(Torch::Torch SYSTEM INTERFACE "${Torch_INCLUDE_DIR}"
                             "${Torch_API_INCLUDE_DIR}")
  target_link_libraries(Torch::Torch INTERFACE "${Torch_torch_LIBRARY}" "${Torch_torch_cpu_LIBRARY}"
                        "${Torch_c10_LIBRARY}")
endif()
