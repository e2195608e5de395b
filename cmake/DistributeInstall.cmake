# install() rules and the package files for find_package(distribute).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/distribute")
set(annexes ${DISTRIBUTE_ANNEX_NAMES})
list(TRANSFORM annexes PREPEND distribute_)
install(TARGETS distribute distribute_header_only ${annexes} ${DISTRIBUTE_INSTALLED_TARGETS} EXPORT distribute-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Where programs look for modules, on every system. By themselves (cmake --install --component
# engines), so that nothing else depends on MPI or UCX.
if(DISTRIBUTE_ENGINE_TARGETS)
  install(TARGETS ${DISTRIBUTE_ENGINE_TARGETS} LIBRARY DESTINATION lib/distribute
          COMPONENT engines EXCLUDE_FROM_ALL)
endif()
install(EXPORT distribute-targets NAMESPACE distribute:: DESTINATION ${package_dir})
install(DIRECTORY include/distribute DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.ipp" PATTERN "*.inc")
install(DIRECTORY cmake/modules DESTINATION ${package_dir})
install(FILES LICENSE NOTICE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
include("${CMAKE_CURRENT_LIST_DIR}/DistributePackaging.cmake")

configure_package_config_file(cmake/distribute-config.cmake.in
  "${PROJECT_BINARY_DIR}/distribute-config.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/distribute-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/distribute-config.cmake"
              "${PROJECT_BINARY_DIR}/distribute-config-version.cmake" DESTINATION ${package_dir})
