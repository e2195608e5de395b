# Conveniences that only the project's own build may set: they would leak into a parent project.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A compiler cache is shared by all clones of a machine: paths below the sources and the build folder are
# relative in what it compares. Precompiled headers need two relaxations (ccache's manual, "Precompiled
# headers"), and Clang's must not hold the time.
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      ${PROJECT_SOURCE_DIR}/cmake/relative_paths.sh ${PROJECT_BINARY_DIR}/ ${CCACHE_PROGRAM})
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES OFF)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
add_compile_options(-Wall -Wextra)
# The compiler collects its garbage less often, which took it 5 % of its time.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)

set(DISTRIBUTE_SANITIZE "" CACHE STRING "Sanitizers of the whole build: address,undefined or thread")
set(DISTRIBUTE_SANITIZE_WITHOUT "" CACHE STRING "Checks of them that are left out, such as null,vptr")
if(DISTRIBUTE_SANITIZE)
  add_compile_options(-fsanitize=${DISTRIBUTE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  if(DISTRIBUTE_SANITIZE_WITHOUT)
    add_compile_options(-fno-sanitize=${DISTRIBUTE_SANITIZE_WITHOUT})
  endif()
  add_link_options(-fsanitize=${DISTRIBUTE_SANITIZE})
endif()

# `cpack` and `ninja install` take what is built, without making tests and measurements first. Without
# programs there are none, and `ninja install` makes the libraries, as packages such as vcpkg's expect.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ${DISTRIBUTE_BUILD_PROGRAMS})
