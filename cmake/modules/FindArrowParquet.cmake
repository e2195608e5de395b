# Arrow's C++ library with Parquet, 20 or newer (Apache's packages, or PyPI's pyarrow, whose folder
# ArrowParquet_ROOT names) -> ArrowParquet::ArrowParquet.
find_path(ArrowParquet_INCLUDE_DIR parquet/arrow/reader.h)
set(ArrowParquet_VERSION "")
set(version "${ArrowParquet_INCLUDE_DIR}/arrow/util/config.h")
if(EXISTS "${version}")
  file(STRINGS "${version}" lines REGEX "define ARROW_VERSION_(MAJOR|MINOR|PATCH) [0-9]")
  list(TRANSFORM lines REPLACE ".* ([0-9]+)$" "\\1")
  list(JOIN lines "." ArrowParquet_VERSION)
  list(GET lines 0 major)
  list(GET lines 1 minor)
endif()
foreach(library IN ITEMS arrow parquet)
  # pyarrow has the libraries without the link of the plain name.
  find_library(ArrowParquet_${library}_LIBRARY
               NAMES ${library} lib${library}.so.${major}0${minor} lib${library}.so.${major}${minor}
               HINTS "${ArrowParquet_INCLUDE_DIR}/.." PATH_SUFFIXES lib)
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ArrowParquet
  REQUIRED_VARS ArrowParquet_parquet_LIBRARY ArrowParquet_arrow_LIBRARY ArrowParquet_INCLUDE_DIR
  VERSION_VAR ArrowParquet_VERSION)
mark_as_advanced(ArrowParquet_INCLUDE_DIR ArrowParquet_arrow_LIBRARY ArrowParquet_parquet_LIBRARY)

if(ArrowParquet_FOUND AND NOT TARGET ArrowParquet::ArrowParquet)
  add_library(ArrowParquet::ArrowParquet INTERFACE IMPORTED)
  target_include_directories(ArrowParquet::ArrowParquet SYSTEM INTERFACE "${ArrowParquet_INCLUDE_DIR}")
  target_link_libraries(ArrowParquet::ArrowParquet INTERFACE
                        "${ArrowParquet_parquet_LIBRARY}" "${ArrowParquet_arrow_LIBRARY}")
endif()
