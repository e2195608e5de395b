# The library's targets, after the folders of include/distribute:
#   distribute::distribute   the core as a static library
#   distribute::<annex>      an annex as a static library; brings the core and the annexes it needs
#   distribute::header_only  core and annexes without a library: bodies come with the headers

# Folders of the core whose bodies share translation units, and what kind of code they are:
# "waits" is for files, sockets and other programs, "computes" is where the time of a step goes.
set(DISTRIBUTE_UNIT_GROUPS
    "waits=base io net cluster rpc summary launch"
    "computes=device ops optim collective"
    "plain=tensor autograd replica nn data parameter_server"
    "plain=strategy"
    "waits=checkpoint coordinator train testing")
# And the annexes, with the annexes that each of them includes (tools/floors.py has the same).
set(DISTRIBUTE_ANNEXES
    "http" "object_stores=http" "platforms=http" "metrics" "preprocessing" "datasets"
    "data_service" "saved_model" "saving=preprocessing" "language_models=saving" "arrays=saving" "estimator=saved_model"
    "horovod" "torch")

set(DISTRIBUTE_BODIES_PER_UNIT 40 CACHE STRING "Number of .ipp files per translation unit, at most")
set(DISTRIBUTE_WAITING_OPTIONS "" CACHE STRING "Compile options of code that waits, such as -Og")
set(DISTRIBUTE_COMPUTING_OPTIONS "" CACHE STRING
    "Compile options of code that computes: bodies with loops over numbers, in folders of that kind")
set(DISTRIBUTE_WITHOUT_FOLDERS "" CACHE STRING
    "Folders of the core that are left out, for tests of lower floors")
mark_as_advanced(DISTRIBUTE_BODIES_PER_UNIT DISTRIBUTE_WAITING_OPTIONS
                 DISTRIBUTE_COMPUTING_OPTIONS DISTRIBUTE_WITHOUT_FOLDERS)

# distribute_write_unit(<variable> <bodies...>): appends the path of one unit, <folder>_<first body>;
# one that did not change is not rewritten.
function(distribute_write_unit variable)
  list(GET ARGN 0 first)
  string(REGEX REPLACE "^distribute/(.+)/impl/(.+)\\.ipp$" "\\1_\\2" name "${first}")
  list(TRANSFORM ARGN REPLACE "^(.+)$" "#include <\\1>" OUTPUT_VARIABLE includes)
  list(JOIN includes "\n" DISTRIBUTE_UNIT_INCLUDES)
  set(unit "${PROJECT_BINARY_DIR}/units/${name}.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/src/unit.cpp.in" "${unit}" @ONLY)
  set(${variable} "${${variable}};${unit}" PARENT_SCOPE)
endfunction()

# distribute_split_into_units(<variable> <bodies...>): appends units of nearly one size.
function(distribute_split_into_units variable)
  list(LENGTH ARGN count)
  if(count EQUAL 0)
    return()
  endif()
  math(EXPR parts "(${count} + ${DISTRIBUTE_BODIES_PER_UNIT} - 1) / ${DISTRIBUTE_BODIES_PER_UNIT}")
  set(begin 0)
  foreach(part RANGE 1 ${parts})
    math(EXPR end "${count} * ${part} / ${parts}")
    math(EXPR length "${end} - ${begin}")
    list(SUBLIST ARGN ${begin} ${length} now)
    distribute_write_unit(${variable} ${now})
    set(begin ${end})
  endforeach()
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# distribute_has_loops(<variable> <kind> <body>): whether DISTRIBUTE_COMPUTING_OPTIONS are for it. Of a
# folder that computes, half of the code prepares, checks and records, and takes most of the time that
# an optimizing compiler needs.
function(distribute_has_loops variable kind body)
  set(lines "")
  if(DISTRIBUTE_COMPUTING_OPTIONS AND kind STREQUAL "computes")
    file(STRINGS "${body}" lines LIMIT_COUNT 1 REGEX "parallel|simd|flat_loop|\\.inc>|update_row")
  endif()
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

# distribute_write_units(<variable> <kind> <folders...>): appends the paths of the folders' units.
# Bodies that know how strategies look to users have units of their own, so that touching a header of
# strategy/ compiles little else again; tools/check_umbrella.py writes the list. CONFIGURE_DEPENDS
# makes a new .ipp enter the build by itself.
function(distribute_write_units variable kind)
  set(root "${PROJECT_SOURCE_DIR}/include")
  file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/strategy_users.txt" users)
  set(know "")
  set(others "")
  set(loops "")
  foreach(folder IN LISTS ARGN)
    file(GLOB found RELATIVE "${root}" CONFIGURE_DEPENDS "${root}/distribute/${folder}/impl/*.ipp")
    foreach(body IN LISTS found)
      distribute_has_loops(body_has_loops ${kind} "${root}/${body}")
      if(body_has_loops)
        list(APPEND loops ${body})
      elseif(body IN_LIST users)
        list(APPEND know ${body})
      else()
        list(APPEND others ${body})
      endif()
    endforeach()
  endforeach()
  set(written "")
  distribute_split_into_units(written ${others})
  distribute_split_into_units(written ${know})
  if(kind STREQUAL "waits" AND DISTRIBUTE_WAITING_OPTIONS AND written)
    set_source_files_properties(${written} PROPERTIES COMPILE_OPTIONS "${DISTRIBUTE_WAITING_OPTIONS}")
  endif()
  set(computing "")
  distribute_split_into_units(computing ${loops})
  if(computing)
    set_source_files_properties(${computing} PROPERTIES
      COMPILE_OPTIONS "${DISTRIBUTE_COMPUTING_OPTIONS}" SKIP_PRECOMPILE_HEADERS ON)
  endif()
  set(${variable} "${${variable}};${written};${computing}" PARENT_SCOPE)
endfunction()

# distribute_set_up(<target> <scope> <form>): what every target of the library has. Targets of
# different forms cannot be linked into one program: CMake names both and stops.
function(distribute_set_up target scope form)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_compile_definitions(${target} ${scope} ${DISTRIBUTE_FEATURE_DEFINITIONS})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  foreach(folder IN LISTS DISTRIBUTE_CUDA_INCLUDE_DIRS)
    target_include_directories(${target} SYSTEM ${scope} "${folder}")
  endforeach()
  target_link_libraries(${target} ${scope} ${DISTRIBUTE_LINK_TARGETS})
  set_target_properties(${target} PROPERTIES INTERFACE_DISTRIBUTE_FORM "${form}"
                        COMPATIBLE_INTERFACE_STRING DISTRIBUTE_FORM)
endfunction()

# distribute_add_static(<target> <units...>)
function(distribute_add_static target)
  add_library(${target} STATIC ${ARGN})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # NaN and infinity decide, whatever the flags of a project that takes the sources in.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-fno-finite-math-only>)
  # What -O3 vectorizes, at the compile time of -O2.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-ftree-vectorize;-fvect-cost-model=dynamic>)
endfunction()

set(units "")
foreach(group IN LISTS DISTRIBUTE_UNIT_GROUPS)
  string(REGEX MATCHALL "[a-z_]+" folders "${group}")
  list(POP_FRONT folders kind)
  if(DISTRIBUTE_WITHOUT_FOLDERS)
    list(REMOVE_ITEM folders ${DISTRIBUTE_WITHOUT_FOLDERS})
  endif()
  distribute_write_units(units ${kind} ${folders})
endforeach()
distribute_add_static(distribute ${units})
distribute_set_up(distribute PUBLIC "static libraries")
target_compile_definitions(distribute PUBLIC DISTRIBUTE_SEPARATE_COMPILATION)
# Named as headers are, so that a compiler cache knows it in another clone.
target_include_directories(distribute PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_precompile_headers(distribute PRIVATE <precompiled.hpp>)
add_library(distribute::distribute ALIAS distribute)

add_library(distribute_header_only INTERFACE)
distribute_set_up(distribute_header_only INTERFACE "header-only")
target_link_libraries(distribute_header_only INTERFACE
  ${DISTRIBUTE_HTTP_LINK_TARGETS} ${DISTRIBUTE_OBJECT_STORES_LINK_TARGETS}
  ${DISTRIBUTE_SAVING_LINK_TARGETS} ${DISTRIBUTE_PREPROCESSING_LINK_TARGETS}
  ${DISTRIBUTE_DATASETS_LINK_TARGETS})
target_compile_definitions(distribute_header_only INTERFACE ${DISTRIBUTE_SAVING_DEFINITIONS}
                           ${DISTRIBUTE_PREPROCESSING_DEFINITIONS}
                           ${DISTRIBUTE_DATASETS_DEFINITIONS})
set_target_properties(distribute_header_only PROPERTIES EXPORT_NAME header_only)
add_library(distribute::header_only ALIAS distribute_header_only)

set(DISTRIBUTE_ANNEX_NAMES "")
foreach(annex IN LISTS DISTRIBUTE_ANNEXES)
  string(REGEX MATCHALL "[a-z_]+" needed "${annex}")
  list(POP_FRONT needed name)
  set(units "")
  set(kind waits)
  if(name MATCHES "horovod|torch")
    set(kind plain)  # a step of its trainers passes through it
  endif()
  if(name STREQUAL "torch" AND NOT DISTRIBUTE_TORCH_LINK_TARGETS)
    continue()
  endif()
  distribute_write_units(units ${kind} ${name})
  distribute_add_static(distribute_${name} ${units})
  list(TRANSFORM needed PREPEND distribute_)
  target_link_libraries(distribute_${name} PUBLIC distribute ${needed})
  target_precompile_headers(distribute_${name} REUSE_FROM distribute)
  # A parent project builds an annex where it links one.
  set_target_properties(distribute_${name} PROPERTIES EXPORT_NAME ${name})
  if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(distribute_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_library(distribute::${name} ALIAS distribute_${name})
  list(APPEND DISTRIBUTE_ANNEX_NAMES ${name})
endforeach()
if(TARGET distribute_torch)
  target_link_libraries(distribute_torch PUBLIC ${DISTRIBUTE_TORCH_LINK_TARGETS})
endif()
target_link_libraries(distribute_http PUBLIC ${DISTRIBUTE_HTTP_LINK_TARGETS})
target_link_libraries(distribute_object_stores PUBLIC ${DISTRIBUTE_OBJECT_STORES_LINK_TARGETS})
target_link_libraries(distribute_preprocessing PUBLIC ${DISTRIBUTE_PREPROCESSING_LINK_TARGETS})
target_compile_definitions(distribute_preprocessing PRIVATE ${DISTRIBUTE_PREPROCESSING_DEFINITIONS})
target_link_libraries(distribute_datasets PRIVATE ${DISTRIBUTE_DATASETS_LINK_TARGETS})
target_compile_definitions(distribute_datasets PRIVATE ${DISTRIBUTE_DATASETS_DEFINITIONS})
target_link_libraries(distribute_saving PRIVATE ${DISTRIBUTE_SAVING_LINK_TARGETS})
target_compile_definitions(distribute_saving PRIVATE ${DISTRIBUTE_SAVING_DEFINITIONS})
# Those that any program may link; what links libtorch has its headers, and its oneDNN, on its path.
set(DISTRIBUTE_PLAIN_ANNEXES ${DISTRIBUTE_ANNEX_NAMES})
list(REMOVE_ITEM DISTRIBUTE_PLAIN_ANNEXES torch)
list(TRANSFORM DISTRIBUTE_PLAIN_ANNEXES PREPEND distribute:: OUTPUT_VARIABLE DISTRIBUTE_ANNEX_TARGETS)
