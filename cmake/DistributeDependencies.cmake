# Finds what the library stands on, remembers it for the installed package, and prints one table.

set(DISTRIBUTE_FOUND_TABLE "")        # lines of the summary
set(DISTRIBUTE_HTTP_LINK_TARGETS "")   # what distribute::http links
set(DISTRIBUTE_OBJECT_STORES_LINK_TARGETS "")  # what distribute::object_stores links
set(DISTRIBUTE_PREPROCESSING_LINK_TARGETS "")  # what distribute::preprocessing links
set(DISTRIBUTE_PREPROCESSING_DEFINITIONS "")   # and is compiled with
set(DISTRIBUTE_DATASETS_LINK_TARGETS "")  # what distribute::datasets links
set(DISTRIBUTE_DATASETS_DEFINITIONS "")   # what only its bodies are compiled with
set(DISTRIBUTE_SAVING_LINK_TARGETS "")  # what distribute::saving links
set(DISTRIBUTE_SAVING_DEFINITIONS "")   # what only its bodies are compiled with
set(DISTRIBUTE_TORCH_LINK_TARGETS "")   # what distribute::torch links; empty: it is not built
set(DISTRIBUTE_TORCH_FIND_DEPENDENCY "") # its line of distribute-config.cmake
set(DISTRIBUTE_LINK_TARGETS "")       # what distribute::distribute links
set(DISTRIBUTE_FEATURE_DEFINITIONS "") # DISTRIBUTE_HAS_<NAME>=0|1
set(DISTRIBUTE_FIND_DEPENDENCIES "")  # find_dependency lines of distribute-config.cmake

# distribute_dependency(<name> PACKAGE <package> [<find_package words>...] TARGETS <target>...
#                       DEBIAN <packages> [OPTIONAL [DEFAULT OFF]] [VERSION_VARIABLE <name>])
# OPTIONAL adds the option DISTRIBUTE_WITH_<name> = AUTO | ON | OFF and DISTRIBUTE_HAS_<name>.
# LINK_VARIABLE names the list of an annex that links it, in place of the core; DEFINITION_VARIABLE
# that of an annex whose bodies alone ask for DISTRIBUTE_HAS_<name>.
function(distribute_dependency name)
  cmake_parse_arguments(arg "OPTIONAL" "DEBIAN;VERSION_VARIABLE;DEFAULT;LINK_VARIABLE;DEFINITION_VARIABLE" "PACKAGE;TARGETS" ${ARGN})
  set(mode ON)
  if(arg_OPTIONAL)
    if(NOT DEFINED arg_DEFAULT)
      set(arg_DEFAULT AUTO)
    endif()
    set(DISTRIBUTE_WITH_${name} ${arg_DEFAULT} CACHE STRING "Use ${name}: AUTO, ON (absence is an error) or OFF")
    set_property(CACHE DISTRIBUTE_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
    string(TOUPPER "${DISTRIBUTE_WITH_${name}}" mode)
  endif()

  list(GET arg_PACKAGE 0 package)
  set(has 0)
  if(NOT mode STREQUAL "AUTO" AND NOT mode)
    set(version "off (DISTRIBUTE_WITH_${name})")
  else()
    find_package(${arg_PACKAGE} QUIET)
    if(${package}_FOUND)
      set(has 1)
      set(version "found ${${package}_VERSION}${${package}_VERSION_STRING}")
      if(arg_VERSION_VARIABLE)
        set(version "found ${${arg_VERSION_VARIABLE}}")
      endif()
    else()
      set(version "missing: apt-get install ${arg_DEBIAN}")
      if(NOT mode STREQUAL "AUTO")
        set(DISTRIBUTE_MISSING "${DISTRIBUTE_MISSING}\n  ${name}: apt-get install ${arg_DEBIAN}"
            PARENT_SCOPE)
      endif()
    endif()
  endif()

  if(has)
    if(arg_LINK_VARIABLE)
      set(${arg_LINK_VARIABLE} ${${arg_LINK_VARIABLE}} ${arg_TARGETS} PARENT_SCOPE)
    else()
      list(APPEND DISTRIBUTE_LINK_TARGETS ${arg_TARGETS})
    endif()
    list(JOIN arg_PACKAGE " " words)
    string(APPEND DISTRIBUTE_FIND_DEPENDENCIES "find_dependency(${words})\n")
  endif()
  if(arg_DEFINITION_VARIABLE)
    set(${arg_DEFINITION_VARIABLE} ${${arg_DEFINITION_VARIABLE}} DISTRIBUTE_HAS_${name}=${has} PARENT_SCOPE)
  elseif(arg_OPTIONAL)
    list(APPEND DISTRIBUTE_FEATURE_DEFINITIONS DISTRIBUTE_HAS_${name}=${has})
  endif()

  string(LENGTH "${name}" length)
  math(EXPR gap "14 - ${length}")
  string(REPEAT " " ${gap} blank)
  set(DISTRIBUTE_FOUND_TABLE "${DISTRIBUTE_FOUND_TABLE}\n  ${name}${blank}${version}" PARENT_SCOPE)
  set(DISTRIBUTE_LINK_TARGETS "${DISTRIBUTE_LINK_TARGETS}" PARENT_SCOPE)
  set(DISTRIBUTE_FEATURE_DEFINITIONS "${DISTRIBUTE_FEATURE_DEFINITIONS}" PARENT_SCOPE)
  set(DISTRIBUTE_FIND_DEPENDENCIES "${DISTRIBUTE_FIND_DEPENDENCIES}" PARENT_SCOPE)
endfunction()

# The modules of this folder, for find_package calls of this directory only.
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/modules")
set(THREADS_PREFER_PTHREAD_FLAG TRUE)

distribute_dependency(Threads PACKAGE Threads TARGETS Threads::Threads DEBIAN libc6-dev)
distribute_dependency(OpenMP PACKAGE OpenMP COMPONENTS CXX TARGETS OpenMP::OpenMP_CXX
                      DEBIAN g++ VERSION_VARIABLE OpenMP_CXX_VERSION)
distribute_dependency(Eigen PACKAGE Eigen3 CONFIG TARGETS Eigen3::Eigen DEBIAN libeigen3-dev)
distribute_dependency(Abseil PACKAGE absl CONFIG DEBIAN libabsl-dev
                      TARGETS absl::status absl::statusor absl::strings absl::synchronization absl::time)
distribute_dependency(nlohmann_json PACKAGE nlohmann_json CONFIG
                      TARGETS nlohmann_json::nlohmann_json DEBIAN nlohmann-json3-dev)
distribute_dependency(Asio PACKAGE asio MODULE TARGETS asio::asio DEBIAN libasio-dev)
distribute_dependency(zlib PACKAGE ZLIB TARGETS ZLIB::ZLIB DEBIAN zlib1g-dev)

distribute_dependency(ONEDNN OPTIONAL PACKAGE oneDNN MODULE TARGETS oneDNN::oneDNN DEBIAN libdnnl-dev)
distribute_dependency(OPENSSL OPTIONAL PACKAGE OpenSSL TARGETS OpenSSL::SSL OpenSSL::Crypto
                      DEBIAN libssl-dev VERSION_VARIABLE OPENSSL_VERSION)
distribute_dependency(CURL OPTIONAL PACKAGE CURL TARGETS CURL::libcurl
                      DEBIAN libcurl4-openssl-dev LINK_VARIABLE DISTRIBUTE_HTTP_LINK_TARGETS)
distribute_dependency(PUGIXML OPTIONAL PACKAGE pugixml CONFIG TARGETS pugixml::pugixml
                      DEBIAN libpugixml-dev LINK_VARIABLE DISTRIBUTE_OBJECT_STORES_LINK_TARGETS)
distribute_dependency(HDF5 OPTIONAL PACKAGE HDF5C MODULE TARGETS HDF5C::HDF5C DEBIAN libhdf5-dev
                      LINK_VARIABLE DISTRIBUTE_SAVING_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_SAVING_DEFINITIONS)
distribute_dependency(LIBZIP OPTIONAL PACKAGE LibZip MODULE TARGETS LibZip::LibZip DEBIAN libzip-dev
                      LINK_VARIABLE DISTRIBUTE_SAVING_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_SAVING_DEFINITIONS)
distribute_dependency(IPSEC_MB OPTIONAL PACKAGE IPSecMB MODULE TARGETS IPSecMB::IPSecMB
                      DEBIAN libipsec-mb-dev VERSION_VARIABLE IPSecMB_VERSION)
distribute_dependency(JPEG OPTIONAL PACKAGE JPEG TARGETS JPEG::JPEG DEBIAN libjpeg-dev)
distribute_dependency(PNG OPTIONAL PACKAGE PNG TARGETS PNG::PNG DEBIAN libpng-dev)
distribute_dependency(FARMHASH OPTIONAL PACKAGE FarmHash MODULE TARGETS FarmHash::FarmHash
                      DEBIAN libfarmhash-dev LINK_VARIABLE DISTRIBUTE_PREPROCESSING_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_PREPROCESSING_DEFINITIONS)
distribute_dependency(PCRE2 OPTIONAL PACKAGE PCRE2 MODULE TARGETS PCRE2::PCRE2
                      DEBIAN libpcre2-dev LINK_VARIABLE DISTRIBUTE_PREPROCESSING_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_PREPROCESSING_DEFINITIONS)
distribute_dependency(SENTENCEPIECE OPTIONAL PACKAGE SentencePiece MODULE
                      TARGETS SentencePiece::SentencePiece DEBIAN libsentencepiece-dev
                      LINK_VARIABLE DISTRIBUTE_PREPROCESSING_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_PREPROCESSING_DEFINITIONS)

# The annex torch is built where libtorch is; only its users need it.
set(DISTRIBUTE_WITH_TORCH AUTO CACHE STRING "Build the annex torch: AUTO, ON (absence is an error) or OFF")
set_property(CACHE DISTRIBUTE_WITH_TORCH PROPERTY STRINGS AUTO ON OFF)
string(TOUPPER "${DISTRIBUTE_WITH_TORCH}" mode)
if(mode STREQUAL "AUTO" OR mode)
  find_package(Torch 2.6 QUIET MODULE)
  if(Torch_FOUND)
    set(DISTRIBUTE_TORCH_LINK_TARGETS Torch::Torch)
    set(DISTRIBUTE_TORCH_FIND_DEPENDENCY "find_dependency(Torch 2.6 MODULE)")
    string(APPEND DISTRIBUTE_FOUND_TABLE "\n  TORCH         found ${Torch_VERSION}")
  else()
    string(APPEND DISTRIBUTE_FOUND_TABLE
           "\n  TORCH         missing: libtorch 2.6 or newer, -DTorch_ROOT=<its folder>")
    if(NOT mode STREQUAL "AUTO")
      string(APPEND DISTRIBUTE_MISSING "\n  TORCH: libtorch 2.6 or newer, -DTorch_ROOT=<its folder>")
    endif()
  endif()
endif()
distribute_dependency(SQLITE OPTIONAL PACKAGE SQLite3 TARGETS SQLite::SQLite3
                      DEBIAN libsqlite3-dev LINK_VARIABLE DISTRIBUTE_DATASETS_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_DATASETS_DEFINITIONS)
distribute_dependency(LIBARCHIVE OPTIONAL PACKAGE LibArchive TARGETS LibArchive::LibArchive
                      DEBIAN libarchive-dev LINK_VARIABLE DISTRIBUTE_DATASETS_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_DATASETS_DEFINITIONS)
distribute_dependency(ARROW OPTIONAL PACKAGE ArrowParquet 20 MODULE TARGETS ArrowParquet::ArrowParquet
                      DEBIAN "libparquet-dev (of Apache's packages), or -DArrowParquet_ROOT=<folder of PyPI's pyarrow>"
                      LINK_VARIABLE DISTRIBUTE_DATASETS_LINK_TARGETS
                      DEFINITION_VARIABLE DISTRIBUTE_DATASETS_DEFINITIONS)
include("${CMAKE_CURRENT_LIST_DIR}/DistributeCuda.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/DistributeKernels.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/DistributeEngines.cmake")

if(DISTRIBUTE_MISSING)
  message(FATAL_ERROR "distribute: packages are missing (scripts/install_dependencies.sh installs "
                      "them):${DISTRIBUTE_MISSING}")
endif()
