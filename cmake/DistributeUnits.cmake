# Compiled mode: writes small translation units into the build tree, a few .ipp files each.

# A vendor's door is the real thing (<door>*.ipp) or a stub of the same shape (<door>_stub.ipp).
set(DISTRIBUTE_DOORS hmac=OPENSSL tls=OPENSSL digest=OPENSSL fast_gcm=IPSEC_MB http_client=CURL
    cpu_onednn=ONEDNN cuda_library=CUDA cuda_dnn=CUDNN nccl=NCCL mpi=MPI jpeg=JPEG)
function(distribute_choose_door variable door)
  string(REPLACE "=" ";" door "${door}")
  list(GET door 0 name)
  list(GET door 1 feature)
  set(stubs ${${variable}})
  list(FILTER stubs INCLUDE REGEX "/${name}[^/]*_stub\\.ipp$")
  if("DISTRIBUTE_HAS_${feature}=1" IN_LIST DISTRIBUTE_FEATURE_DEFINITIONS)
    list(REMOVE_ITEM ${variable} ${stubs})
  elseif(stubs)
    list(FILTER ${variable} EXCLUDE REGEX "/${name}[^/]*\\.ipp$")
    list(APPEND ${variable} ${stubs})
  endif()
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# distribute_reaches(<variable> <file> <header>): whether `file` includes `header`, itself or through
# headers of this library; paths are relative to include/.
function(distribute_reaches variable file header)
  get_property(known GLOBAL PROPERTY "reaches/${file}/${header}")
  if("${known}" STREQUAL "")
    set(known FALSE)
    set_property(GLOBAL PROPERTY "reaches/${file}/${header}" FALSE)  # where includes run in a circle
    file(STRINGS "${PROJECT_SOURCE_DIR}/include/${file}" includes REGEX "^#include <distribute/.*hpp>")
    list(TRANSFORM includes REPLACE "^#include <(.+)>.*" "\\1")
    if(header IN_LIST includes)
      set(known TRUE)
    endif()
    while(includes AND NOT known)
      list(POP_FRONT includes next)
      distribute_reaches(known "${next}" "${header}")
    endwhile()
    set_property(GLOBAL PROPERTY "reaches/${file}/${header}" ${known})
  endif()
  set(${variable} ${known} PARENT_SCOPE)
endfunction()

# distribute_write_unit(<variable> <floor> <bodies...>): appends the path of one unit.
function(distribute_write_unit variable floor)
  list(GET ARGN 0 first)
  cmake_path(GET first STEM first)
  list(TRANSFORM ARGN REPLACE "^(.+)$" "#include <\\1>" OUTPUT_VARIABLE includes)
  list(JOIN includes "\n" DISTRIBUTE_UNIT_INCLUDES)
  set(unit "${PROJECT_BINARY_DIR}/units/${floor}_${first}.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/src/unit.cpp.in" "${unit}" @ONLY)
  set(${variable} "${${variable}};${unit}" PARENT_SCOPE)
endfunction()

# distribute_split_into_units(<variable> <files per unit> <floor> <bodies...>): parts of nearly one
# size.
function(distribute_split_into_units variable files_per_unit floor)
  list(LENGTH ARGN count)
  math(EXPR parts "(${count} + ${files_per_unit} - 1) / ${files_per_unit}")
  set(begin 0)
  foreach(part RANGE 1 ${parts})
    math(EXPR end "${count} * ${part} / ${parts}")
    math(EXPR length "${end} - ${begin}")
    list(SUBLIST ARGN ${begin} ${length} now)
    distribute_write_unit(${variable} ${floor} ${now})
    set(begin ${end})
  endforeach()
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# distribute_write_units(<variable> <files per unit>): `variable` gets the paths of the units.
# CONFIGURE_DEPENDS makes a new .ipp enter the build by itself; a unit that did not change is not
# rewritten. What stands above the strategies is kept apart from the rest of its floor, so that
# touching a header of strategy/ rebuilds little else.
function(distribute_write_units variable files_per_unit)
  set(root "${PROJECT_SOURCE_DIR}/include")
  file(GLOB folders RELATIVE "${root}/distribute" CONFIGURE_DEPENDS "${root}/distribute/*/impl")
  set(DISTRIBUTE_WITHOUT_FLOORS "" CACHE STRING
      "Regular expression of folders left out of the library, for tests of lower ones")
  mark_as_advanced(DISTRIBUTE_WITHOUT_FLOORS)
  if(DISTRIBUTE_WITHOUT_FLOORS)
    list(FILTER folders EXCLUDE REGEX "${DISTRIBUTE_WITHOUT_FLOORS}")
  endif()
  set(units "")
  foreach(folder IN LISTS folders)
    string(REPLACE "/impl" "" floor "${folder}")
    file(GLOB bodies RELATIVE "${root}" CONFIGURE_DEPENDS "${root}/distribute/${folder}/*.ipp")
    foreach(door IN LISTS DISTRIBUTE_DOORS)
      distribute_choose_door(bodies ${door})
    endforeach()
    set(above "")
    set(below "")
    foreach(body IN LISTS bodies)
      distribute_reaches(reaches "${body}" distribute/strategy/strategy_extended.hpp)
      if(reaches)
        list(APPEND above "${body}")
      else()
        list(APPEND below "${body}")
      endif()
    endforeach()
    foreach(part IN ITEMS below above)
      if(${part})
        distribute_split_into_units(units ${files_per_unit} ${floor} ${${part}})
      endif()
    endforeach()
  endforeach()
  set(${variable} "${units}" PARENT_SCOPE)
endfunction()

# distribute_optimize_units(<regular expression> <units...>): -O1 for the floors that compute.
function(distribute_optimize_units floors)
  foreach(unit IN LISTS ARGN)
    cmake_path(GET unit STEM name)
    if(floors AND name MATCHES "${floors}")
      set_source_files_properties("${unit}" PROPERTIES COMPILE_OPTIONS -O1
                                  SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# distribute_relax_units(<regular expression> <units...>): -Og for floors that wait for sockets,
# files and people: they compile in two thirds of the time.
function(distribute_relax_units floors)
  foreach(unit IN LISTS ARGN)
    cmake_path(GET unit STEM name)
    if(floors AND name MATCHES "${floors}")
      set_source_files_properties("${unit}" PROPERTIES COMPILE_OPTIONS -Og)
    endif()
  endforeach()
endfunction()
