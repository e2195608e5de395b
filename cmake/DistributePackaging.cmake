# pkg-config files, the installed program, and CPack's Debian package.

# distribute_pkg_config(<name> <description> <library> <requires> <libs>)
function(distribute_pkg_config name description library requires libs)
  set(PC_NAME "${name}")
  set(PC_DESCRIPTION "${description}")
  set(PC_REQUIRES "${requires}")
  set(PC_LIBS "-l${library}${libs}")
  configure_file(cmake/distribute.pc.in "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc"
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# From the folder of the files up to the prefix: lib/pkgconfig, or lib/x86_64-linux-gnu/pkgconfig.
string(REGEX REPLACE "[^/]+" ".." PC_UP "${CMAKE_INSTALL_LIBDIR}")

# What the core links, by the features that were found: a file of pkg-config where Debian has one.
set(requires "eigen3 absl_status absl_statusor absl_strings absl_synchronization absl_time zlib")
set(libs " -latomic -ldl")
if("DISTRIBUTE_HAS_ONEDNN=1" IN_LIST DISTRIBUTE_FEATURE_DEFINITIONS)
  string(APPEND libs " -ldnnl")
endif()
foreach(pair IN ITEMS "OPENSSL: openssl" "JPEG: libjpeg" "PNG: libpng")
  string(REGEX MATCH "^([A-Z_]+):(.*)$" _ "${pair}")
  if("DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_FEATURE_DEFINITIONS)
    string(APPEND requires "${CMAKE_MATCH_2}")
  endif()
endforeach()
list(TRANSFORM DISTRIBUTE_FEATURE_DEFINITIONS PREPEND "-D" OUTPUT_VARIABLE definitions)
list(JOIN definitions " " PC_DEFINITIONS)
distribute_pkg_config(distribute "${PROJECT_DESCRIPTION}" distribute "${requires}" "${libs}")
set(saving_packages HDF5:hdf5-serial LIBZIP:libzip)
set(preprocessing_packages PCRE2:libpcre2-8 SENTENCEPIECE:sentencepiece)
foreach(annex IN LISTS DISTRIBUTE_ANNEXES)
  string(REGEX MATCHALL "[a-z_]+" needed "${annex}")
  list(POP_FRONT needed name)
  set(requires "distribute")
  foreach(other IN LISTS needed)
    string(APPEND requires " distribute-${other}")
  endforeach()
  if(name STREQUAL "http" AND "DISTRIBUTE_HAS_CURL=1" IN_LIST DISTRIBUTE_FEATURE_DEFINITIONS)
    string(APPEND requires " libcurl")
  endif()
  if(name STREQUAL "object_stores" AND "DISTRIBUTE_HAS_PUGIXML=1" IN_LIST DISTRIBUTE_FEATURE_DEFINITIONS)
    string(APPEND requires " pugixml")
  endif()
  string(TOUPPER "${name}" upper)
  foreach(pair IN LISTS ${name}_packages)
    string(REGEX MATCH "^([A-Z0-9]+):(.*)$" _ "${pair}")
    if("DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_${upper}_DEFINITIONS)
      string(APPEND requires " ${CMAKE_MATCH_2}")
    endif()
  endforeach()
  distribute_pkg_config(distribute-${name} "annex ${name} of distribute" distribute_${name} "${requires}" "")
endforeach()

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
set(depends libc6 libstdc++6 libgomp1 libeigen3-dev libabsl-dev nlohmann-json3-dev libasio-dev zlib1g-dev)
foreach(pair IN ITEMS ONEDNN:libdnnl-dev OPENSSL:libssl-dev CURL:libcurl4-openssl-dev
        PUGIXML:libpugixml-dev JPEG:libjpeg-dev PNG:libpng-dev
        MPI:libopenmpi-dev HDF5:libhdf5-dev LIBZIP:libzip-dev
        FARMHASH:libfarmhash-dev PCRE2:libpcre2-dev SENTENCEPIECE:libsentencepiece-dev)
  string(REGEX MATCH "^([A-Z0-9_]+):(.*)$" _ "${pair}")
  if("DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_FEATURE_DEFINITIONS
     OR "DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_SAVING_DEFINITIONS
     OR "DISTRIBUTE_HAS_${CMAKE_MATCH_1}=1" IN_LIST DISTRIBUTE_PREPROCESSING_DEFINITIONS)
    list(APPEND depends ${CMAKE_MATCH_2})
  endif()
endforeach()
list(JOIN depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
include(CPack)
