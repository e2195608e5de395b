# DISTRIBUTE_CUDA_AOT: a folder of compiled GPU kernels that become part of every program, so that
# these neither compile them at their first use nor need NVRTC. Either the cache of a run
# (DISTRIBUTE_CUDA_CACHE=folder), or written without a GPU by the program of the target gpu_kernels.
set(DISTRIBUTE_CUDA_AOT "" CACHE PATH "Folder of compiled GPU kernels for programs to contain")
if(NOT DISTRIBUTE_CUDA_AOT)
  return()
endif()

file(GLOB kernels CONFIGURE_DEPENDS "${DISTRIBUTE_CUDA_AOT}/*.sm_*")
list(SORT kernels)
if(NOT kernels)
  message(FATAL_ERROR "DISTRIBUTE_CUDA_AOT: no kernels (*.sm_*) in ${DISTRIBUTE_CUDA_AOT}")
endif()
set(data "")
set(declarations "")
set(table "")
set(number 0)
foreach(kernel IN LISTS kernels)
  cmake_path(GET kernel FILENAME name)
  set(symbol "distribute_kernel_${number}")
  string(APPEND data ".balign 64\n${symbol}: .incbin \"${kernel}\"\n${symbol}_end:\n")
  string(APPEND declarations
         "extern \"C\" const char ${symbol}[], ${symbol}_end[] __attribute__((visibility(\"hidden\")));\n")
  string(APPEND table "    {\"${name}\", ${symbol}, ${symbol}_end},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/embedded_kernels.cpp" @ONLY CONTENT
"#include <distribute/device/detail/embedded_kernels.hpp>
asm(R\"(.pushsection .rodata
@data@.popsection)\");
@declarations@
namespace distribute::device_internal {
static const EmbeddedKernel kKernels[] = {
@table@};
std::span<const EmbeddedKernel> embedded_kernels() { return kKernels; }
}  // namespace distribute::device_internal
")
set_source_files_properties("${PROJECT_BINARY_DIR}/embedded_kernels.cpp" PROPERTIES
                            OBJECT_DEPENDS "${kernels}")
add_library(distribute_kernels STATIC "${PROJECT_BINARY_DIR}/embedded_kernels.cpp")
target_compile_features(distribute_kernels PRIVATE cxx_std_20)
target_compile_definitions(distribute_kernels PUBLIC DISTRIBUTE_CUDA_AOT=1)
target_include_directories(distribute_kernels PRIVATE "${PROJECT_SOURCE_DIR}/include")
set_target_properties(distribute_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME kernels)
list(APPEND DISTRIBUTE_LINK_TARGETS distribute_kernels)
set(DISTRIBUTE_INSTALLED_TARGETS distribute_kernels)
distribute_cuda_line(kernels "${number} in ${DISTRIBUTE_CUDA_AOT}")
