#pragma once
#if !DISTRIBUTE_HAS_LIBARCHIVE
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/datasets/detail/archive_reader.hpp>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE bool has_libarchive() { return false; }

DISTRIBUTE_INLINE std::unique_ptr<ArchiveReader> open_archive(const std::string&) {
#if __has_include(<archive.h>)
  const char* const cure = DISTRIBUTE_GET_BY_FLAGS("LIBARCHIVE", "libarchive-dev", "-larchive");
#else
  const char* const cure = DISTRIBUTE_GET_BY_PACKAGE("libarchive-dev");
#endif
  throw UnimplementedError(str_cat("web_dataset: this build reads no archives; ", cure));
}

}  // namespace distribute::data::data_internal
#endif
