#pragma once
#if !DISTRIBUTE_HAS_LIBZIP
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/saving/zip_file.hpp>

namespace distribute::saving {

DISTRIBUTE_INLINE bool has_zip() { return false; }

[[noreturn]] DISTRIBUTE_INLINE void refuse_zip() {
  throw UnimplementedError(
      "this build reads and writes no zip archives (.keras, .npz); " DISTRIBUTE_GET_LIBZIP);
}

DISTRIBUTE_INLINE std::string read_zip_entry(const std::string&, const std::string&,
                                             const std::string&) {
  refuse_zip();
}
DISTRIBUTE_INLINE std::vector<std::string> zip_entries(const std::string&, const std::string&) {
  refuse_zip();
}
DISTRIBUTE_INLINE std::string encode_zip(const std::vector<std::pair<std::string, std::string>>&) {
  refuse_zip();
}

}  // namespace distribute::saving
#endif
