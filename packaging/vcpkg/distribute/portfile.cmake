# An overlay port of a checkout: DISTRIBUTE_SOURCE names it, else the folder above packaging/.
if(DEFINED ENV{DISTRIBUTE_SOURCE})
  set(SOURCE_PATH "$ENV{DISTRIBUTE_SOURCE}")
else()
  get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
endif()

set(options "")
foreach(pair IN ITEMS onednn:ONEDNN openssl:OPENSSL object-stores:CURL object-stores:PUGIXML
        pictures:JPEG pictures:PNG)
  string(REGEX MATCH "^([a-z-]+):([A-Z]+)$" _ "${pair}")
  if("${CMAKE_MATCH_1}" IN_LIST FEATURES)
    list(APPEND options "-DDISTRIBUTE_WITH_${CMAKE_MATCH_2}=ON")
  else()
    list(APPEND options "-DDISTRIBUTE_WITH_${CMAKE_MATCH_2}=OFF")
  endif()
endforeach()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS
  -DDISTRIBUTE_BUILD_PROGRAMS=OFF -DDISTRIBUTE_WITH_IPSEC_MB=OFF -DDISTRIBUTE_WITH_HDF5=OFF
  -DDISTRIBUTE_WITH_LIBZIP=OFF -DDISTRIBUTE_WITH_FARMHASH=OFF -DDISTRIBUTE_WITH_PCRE2=OFF
  -DDISTRIBUTE_WITH_SQLITE=OFF -DDISTRIBUTE_WITH_LIBARCHIVE=OFF -DDISTRIBUTE_WITH_ARROW=OFF
  -DDISTRIBUTE_WITH_SENTENCEPIECE=OFF -DDISTRIBUTE_WITH_OPENMPI=OFF -DDISTRIBUTE_WITH_MPICH=OFF
  -DDISTRIBUTE_WITH_UCX=OFF ${options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME distribute CONFIG_PATH lib/cmake/distribute)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
