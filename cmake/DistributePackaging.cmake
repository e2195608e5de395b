# pkg-config files, the installed program, and CPack's Debian package.

# distribute_pkg_config(<name> <description> <requires> <cflags> <libs>)
function(distribute_pkg_config name description requires cflags libs)
  set(PC_NAME "${name}")
  set(PC_DESCRIPTION "${description}")
  set(PC_REQUIRES "${requires}")
  set(PC_CFLAGS "${cflags}")
  set(PC_LIBS "${libs}")
  configure_file(cmake/distribute.pc.in "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc"
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# distribute_found_packages(<variable> <definitions> <NAME:word>...): appends the words of what was found.
function(distribute_found_packages variable definitions)
  foreach(pair IN LISTS ARGN)
    string(REGEX MATCH "^([A-Z0-9_]+):(.*)$" _ "${pair}")
    if("DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST definitions)
      string(APPEND ${variable} " ${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(${variable} "${${variable}}" PARENT_SCOPE)
endfunction()

# From the folder of the files up to the prefix: lib/pkgconfig, or lib/x86_64-linux-gnu/pkgconfig.
string(REGEX REPLACE "[^/]+" ".." PC_UP "${CMAKE_INSTALL_LIBDIR}")

# What is linked, by the features that were found: a file of pkg-config where Debian has one.
set(core_requires "eigen3 absl_status absl_statusor absl_strings absl_synchronization absl_time zlib")
set(core_libs " -latomic -ldl")
distribute_found_packages(core_libs "${DISTRIBUTE_FEATURE_DEFINITIONS}" ONEDNN:-ldnnl IPSEC_MB:-lIPSec_MB)
distribute_found_packages(core_requires "${DISTRIBUTE_FEATURE_DEFINITIONS}"
                          OPENSSL:openssl JPEG:libjpeg PNG:libpng)
# A quoted path does not come through pkg-config; archives have it compiled in.
set(core_features ${DISTRIBUTE_FEATURE_DEFINITIONS})
list(FILTER core_features EXCLUDE REGEX "\"")
list(TRANSFORM core_features PREPEND " -D" OUTPUT_VARIABLE core_definitions)
list(JOIN core_definitions "" core_definitions)
distribute_pkg_config(distribute "${PROJECT_DESCRIPTION}" "${core_requires}"
  " -DDISTRIBUTE_SEPARATE_COMPILATION${core_definitions}" "-L\${libdir} -ldistribute${core_libs}")

set(annex_definitions ${core_features} ${DISTRIBUTE_SAVING_DEFINITIONS}
                      ${DISTRIBUTE_PREPROCESSING_DEFINITIONS} ${DISTRIBUTE_DATASETS_DEFINITIONS})
set(http_packages CURL:libcurl)
set(object_stores_packages PUGIXML:pugixml)
set(saving_packages HDF5:hdf5-serial LIBZIP:libzip)
set(preprocessing_packages PCRE2:libpcre2-8 SENTENCEPIECE:sentencepiece)
set(datasets_packages SQLITE:sqlite3 LIBARCHIVE:libarchive)
set(preprocessing_libs FARMHASH:-lfarmhash)
# PyPI's pyarrow has no files of pkg-config.
cmake_path(GET ArrowParquet_arrow_LIBRARY PARENT_PATH arrow_folder)
set(datasets_libs "ARROW:${ArrowParquet_parquet_LIBRARY} ${ArrowParquet_arrow_LIBRARY} -Wl,-rpath,${arrow_folder}")
set(all_requires "${core_requires}")
set(all_libs "${core_libs}")
foreach(annex IN LISTS DISTRIBUTE_ANNEXES)
  string(REGEX MATCHALL "[a-z_]+" needed "${annex}")
  list(POP_FRONT needed name)
  if(NOT TARGET distribute_${name})
    continue()
  endif()
  set(requires "distribute")
  foreach(other IN LISTS needed)
    string(APPEND requires " distribute-${other}")
  endforeach()
  set(libs "")
  distribute_found_packages(requires "${annex_definitions}" ${${name}_packages})
  distribute_found_packages(libs "${annex_definitions}" ${${name}_libs})
  distribute_found_packages(all_requires "${annex_definitions}" ${${name}_packages})
  distribute_found_packages(all_libs "${annex_definitions}" ${${name}_libs})
  distribute_pkg_config(distribute-${name} "annex ${name} of distribute" "${requires}" ""
                        "-L\${libdir} -ldistribute_${name}${libs}")
endforeach()

# The way without archives: the library's bodies come with its headers, those of annexes, too.
list(TRANSFORM annex_definitions PREPEND " -D" OUTPUT_VARIABLE all_definitions)
list(TRANSFORM DISTRIBUTE_CUDA_INCLUDE_DIRS PREPEND " -isystem " OUTPUT_VARIABLE cuda_folders)
list(APPEND all_definitions ${cuda_folders})
list(JOIN all_definitions "" all_definitions)
distribute_pkg_config(distribute-header-only "${PROJECT_DESCRIPTION}, compiled into the program"
                      "${all_requires}" "${all_definitions}" "${all_libs}")

# cpack -G DEB
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libdistribute-dev)
set(CPACK_PACKAGE_VENDOR distribute)
set(CPACK_PACKAGE_CONTACT "the authors of distribute <noreply@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
# The -dev packages bring the libraries that the program is linked with; dpkg-shlibdeps would find the
# same in 25 s.
set(openmp libgomp1)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(openmp libomp-dev)
endif()
set(depends libc6 libstdc++6 ${openmp} libeigen3-dev libabsl-dev nlohmann-json3-dev libasio-dev zlib1g-dev)
foreach(pair IN ITEMS ONEDNN:libdnnl-dev OPENSSL:libssl-dev CURL:libcurl4-openssl-dev
        PUGIXML:libpugixml-dev IPSEC_MB:libipsec-mb-dev JPEG:libjpeg-dev PNG:libpng-dev
        MPI:libopenmpi-dev HDF5:libhdf5-dev LIBZIP:libzip-dev
        SQLITE:libsqlite3-dev LIBARCHIVE:libarchive-dev
        FARMHASH:libfarmhash-dev PCRE2:libpcre2-dev SENTENCEPIECE:libsentencepiece-dev)
  string(REGEX MATCH "^([A-Z0-9_]+):(.*)$" _ "${pair}")
  if("DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_FEATURE_DEFINITIONS
     OR "DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_SAVING_DEFINITIONS
     OR "DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_PREPROCESSING_DEFINITIONS
     OR "DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_DATASETS_DEFINITIONS)
    list(APPEND depends ${CMAKE_MATCH_2})
  endif()
endforeach()
list(JOIN depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
include(CPack)
