# GPUs. Nothing of CUDA is linked: its libraries are opened when a program first asks for a GPU
# (device/detail/cuda_library.hpp), so that one binary runs with and without a driver. The toolkit adds the
# folder of its libraries, and headers for cuDNN and NCCL.

set(DISTRIBUTE_CUDA AUTO CACHE STRING
    "GPU support: AUTO (the toolkit where there is one), ON (absence is an error) or OFF")
set_property(CACHE DISTRIBUTE_CUDA PROPERTY STRINGS AUTO ON OFF)
string(TOUPPER "${DISTRIBUTE_CUDA}" distribute_cuda_mode)

function(distribute_cuda_line name text)
  string(LENGTH "${name}" length)
  math(EXPR gap "14 - ${length}")
  string(REPEAT " " ${gap} blank)
  set(DISTRIBUTE_FOUND_TABLE "${DISTRIBUTE_FOUND_TABLE}\n  ${name}${blank}${text}" PARENT_SCOPE)
endfunction()

if(NOT distribute_cuda_mode STREQUAL "AUTO" AND NOT distribute_cuda_mode)
  list(APPEND DISTRIBUTE_FEATURE_DEFINITIONS
       DISTRIBUTE_HAS_CUDA=0 DISTRIBUTE_HAS_CUDNN=0 DISTRIBUTE_HAS_NCCL=0)
  distribute_cuda_line(CUDA "off (DISTRIBUTE_CUDA)")
else()
  find_package(CUDAToolkit QUIET)
  list(APPEND DISTRIBUTE_FEATURE_DEFINITIONS DISTRIBUTE_HAS_CUDA=1)
  list(APPEND DISTRIBUTE_LINK_TARGETS ${CMAKE_DL_LIBS})
  if(CUDAToolkit_FOUND)
    list(APPEND DISTRIBUTE_FEATURE_DEFINITIONS
         "DISTRIBUTE_CUDA_TOOLKIT_LIBRARIES=\"${CUDAToolkit_LIBRARY_DIR}\"")
    distribute_cuda_line(CUDA "found ${CUDAToolkit_VERSION}, opened at run time")
  else()
    distribute_cuda_line(CUDA "no toolkit; driver and NVRTC are looked for at run time")
    if(NOT distribute_cuda_mode STREQUAL "AUTO")
      string(APPEND DISTRIBUTE_MISSING "\n  CUDA: apt-get install nvidia-cuda-toolkit")
    endif()
  endif()

  # <feature> <header>: the headers of a library whose functions are loaded at run time.
  foreach(pair IN ITEMS "CUDNN cudnn_adv.h" "NCCL nccl.h")
    separate_arguments(pair)
    list(GET pair 0 feature)
    list(GET pair 1 header)
    find_path(DISTRIBUTE_${feature}_INCLUDE_DIR ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS})
    mark_as_advanced(DISTRIBUTE_${feature}_INCLUDE_DIR)
    if(CUDAToolkit_FOUND AND DISTRIBUTE_${feature}_INCLUDE_DIR)
      list(APPEND DISTRIBUTE_FEATURE_DEFINITIONS DISTRIBUTE_HAS_${feature}=1)
      list(APPEND DISTRIBUTE_CUDA_INCLUDE_DIRS
           "${DISTRIBUTE_${feature}_INCLUDE_DIR}" ${CUDAToolkit_INCLUDE_DIRS})
      distribute_cuda_line(${feature} "headers found, opened at run time")
    else()
      list(APPEND DISTRIBUTE_FEATURE_DEFINITIONS DISTRIBUTE_HAS_${feature}=0)
      distribute_cuda_line(${feature} "no headers (${header})")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES DISTRIBUTE_CUDA_INCLUDE_DIRS)
endif()
