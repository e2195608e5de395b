# Tools, examples, measurements and tests: one program per folder or file, found by globbing.

# distribute_program(<target> [OUTPUT <name>] FILES <glob>...): nothing when no file matches.
function(distribute_program target)
  cmake_parse_arguments(arg "" "OUTPUT" "FILES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${arg_FILES})
  if(NOT sources)
    return()
  endif()
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE distribute::distribute ${DISTRIBUTE_ANNEX_TARGETS}
                        absl::flags absl::flags_parse absl::flags_usage)
  if(arg_OUTPUT)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT})
  endif()
endfunction()

# distribute_unite(<target> <files>): groups files into translation units, unless units are small
# for quick builds after a change.
function(distribute_unite target files)
  if(NOT "${DISTRIBUTE_BODIES_PER_UNIT}" STREQUAL "1")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

# Programs that include distribute.hpp spend most of their compile time in it.
set(DISTRIBUTE_PROGRAM_PRECOMPILED "" CACHE STRING
    "Header that is precompiled once for all programs that include it: <distribute/distribute.hpp>")
if(DISTRIBUTE_PROGRAM_PRECOMPILED)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/program_precompiled.cpp"
       CONTENT "// The header beside it is what this target is for.\n")
  add_library(program_precompiled OBJECT EXCLUDE_FROM_ALL
              "${CMAKE_CURRENT_BINARY_DIR}/program_precompiled.cpp")
  target_link_libraries(program_precompiled PRIVATE distribute::distribute)
  set_target_properties(program_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(program_precompiled PRIVATE ${DISTRIBUTE_PROGRAM_PRECOMPILED})
endif()

# distribute_reuse_precompiled(<target> [file]): takes the library's precompiled header, or that of the
# programs where `file` includes distribute.hpp by itself: a missing include is still an error.
function(distribute_reuse_precompiled target)
  set(from distribute)
  if(ARGN AND TARGET program_precompiled)
    file(STRINGS ${ARGN} whole REGEX "^#include <distribute/distribute\\.hpp>")
    if(whole)
      set(from program_precompiled)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_precompile_headers(${target} REUSE_FROM ${from})
endfunction()

# distribute_reuse_precompiled_program(<target> [file]): for an executable, whose -fPIE would not fit
# the precompiled header; -fPIC does.
function(distribute_reuse_precompiled_program target)
  distribute_reuse_precompiled(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang>:-fPIC>)
endfunction()

# The `distribute` program; its target has another name because the library has this one.
distribute_program(distribute_cli OUTPUT distribute FILES tools/*.cpp tools/distribute/*.cpp)
distribute_unite(distribute_cli 8)
if(DISTRIBUTE_INSTALL)
  install(TARGETS distribute_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# examples/common: what the trainers share.
file(GLOB common_sources CONFIGURE_DEPENDS examples/common/*.cpp)
if(common_sources)
  add_library(examples_common OBJECT ${common_sources} tools/command.cpp tools/flag_rule.cpp)
  target_link_libraries(examples_common PUBLIC distribute::distribute ${DISTRIBUTE_ANNEX_TARGETS}
                        absl::flags absl::flags_parse absl::flags_usage)
  target_include_directories(examples_common PUBLIC "${PROJECT_SOURCE_DIR}"
                             "${PROJECT_SOURCE_DIR}/examples")
  distribute_unite(examples_common 0)
  # What no change of a strategy touches is a unit of its own.
  set_target_properties(examples_common PROPERTIES UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${common_sources} PROPERTIES UNITY_GROUP trainers)
  set_source_files_properties(
    tools/command.cpp tools/flag_rule.cpp examples/common/managed_job.cpp
    examples/common/options.cpp
    PROPERTIES UNITY_GROUP plain)
  target_compile_options(examples_common PRIVATE ${DISTRIBUTE_WAITING_OPTIONS})
  distribute_reuse_precompiled(examples_common "${PROJECT_SOURCE_DIR}/examples/common/training.hpp")
endif()
file(GLOB examples RELATIVE "${PROJECT_SOURCE_DIR}/examples" CONFIGURE_DEPENDS examples/*)
list(REMOVE_ITEM examples common)
# A file beside main.cpp that has a main of its own is a whole program, <example>_<file>: it shows one
# way to train with the public API, and needs neither examples/common nor annexes that it does not
# include.
set(DISTRIBUTE_TEACHING_PROGRAMS "")
function(distribute_teaching_program target file)
  # --help says what the comment on top of the file does, and shows the file's flags.
  file(READ ${file} help)
  string(REGEX MATCH "^(///[^\n]*\n)+" help "${help}")
  string(REGEX REPLACE "(^|\n)/// ?" "\\1" help "${help}")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
  configure_file(cmake/teaching_help.cpp.in "${CMAKE_CURRENT_BINARY_DIR}/help/${target}.cpp" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  add_executable(${target} ${file} "${CMAKE_CURRENT_BINARY_DIR}/help/${target}.cpp")
  target_link_libraries(${target} PRIVATE distribute::distribute absl::flags absl::flags_parse
                        absl::flags_usage)
  foreach(annex IN LISTS DISTRIBUTE_ANNEX_NAMES)
    file(STRINGS ${file} included REGEX "^#include <distribute/${annex}\\.hpp>")
    if(included)
      target_link_libraries(${target} PRIVATE distribute::${annex})
    endif()
  endforeach()
  # libsentencepiece has a FLAGS_help of its own, which it would write over Abseil's, and the lock
  # beside it, were Abseil's library of usages linked for itself and so found first.
  target_link_options(${target} PRIVATE $<$<PLATFORM_ID:Linux>:LINKER:--as-needed>)
  distribute_reuse_precompiled_program(${target} ${file})
endfunction()
if(TARGET distribute_torch)
  distribute_program(libtorch_mnist FILES examples/libtorch_mnist/*.cpp)
  target_link_libraries(libtorch_mnist PRIVATE distribute::torch)
endif()
list(REMOVE_ITEM examples libtorch_mnist)
foreach(example IN LISTS examples)
  file(GLOB sources CONFIGURE_DEPENDS examples/${example}/*.cpp)
  foreach(file IN LISTS sources)
    cmake_path(GET file STEM name)
    file(STRINGS ${file} main REGEX "^int main\\(")
    if(main AND NOT name STREQUAL "main")
      list(REMOVE_ITEM sources ${file})
      distribute_teaching_program(${example}_${name} ${file})
      list(APPEND DISTRIBUTE_TEACHING_PROGRAMS ${example}_${name})
    endif()
  endforeach()
  if(sources)
    distribute_program(${example} FILES ${sources})
  endif()
  if(TARGET ${example} AND TARGET examples_common)
    target_link_libraries(${example} PRIVATE examples_common)
    if(TARGET program_precompiled AND EXISTS "${PROJECT_SOURCE_DIR}/examples/${example}/model.hpp")
      distribute_reuse_precompiled_program(${example} examples/${example}/model.hpp)
    endif()
    target_compile_definitions(${example} PRIVATE
      EXAMPLE_DATA_DIR="${PROJECT_SOURCE_DIR}/examples/${example}/data")
  endif()
endforeach()

# bench/<name>_bench.cpp: programs that print figures, built on request.
file(GLOB benches CONFIGURE_DEPENDS bench/*_bench.cpp)
foreach(bench IN LISTS benches)
  cmake_path(GET bench STEM name)
  if(name STREQUAL "torch_ddp_bench")
    if(TARGET distribute_torch)
      add_executable(${name} EXCLUDE_FROM_ALL ${bench})
      target_link_libraries(${name} PRIVATE distribute::torch)
    endif()
    continue()
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${bench})
  target_link_libraries(${name} PRIVATE distribute::distribute ${DISTRIBUTE_ANNEX_TARGETS})
endforeach()
if(TARGET engine_hosts_bench)
  target_sources(engine_hosts_bench PRIVATE tools/raw_sockets.cpp)
endif()

# Writes a folder for DISTRIBUTE_CUDA_AOT; built on request.
if(EXISTS "${PROJECT_SOURCE_DIR}/tests/support/fake_cuda.cpp")
  add_executable(gpu_kernels EXCLUDE_FROM_ALL tools/gpu_kernels/main.cpp
                 tests/support/fake_cuda.cpp tests/support/fake_order.cpp)
  set_source_files_properties(tests/support/fake_cuda.cpp PROPERTIES
    COMPILE_OPTIONS -U_FORTIFY_SOURCE)  # as in tests/
  target_include_directories(gpu_kernels PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(gpu_kernels PRIVATE distribute::distribute
                        absl::flags absl::flags_parse absl::flags_usage)
endif()

option(DISTRIBUTE_BUILD_TESTS "Build the tests" ON)
if(DISTRIBUTE_BUILD_TESTS)
  enable_testing()
  add_subdirectory(tests)
endif()
