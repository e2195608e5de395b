#pragma once
#if !DISTRIBUTE_HAS_LIBZIP
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/saving/detail/zip_file.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE bool has_zip() { return false; }

[[noreturn]] DISTRIBUTE_INLINE void refuse_zip() {
  throw UnimplementedError("this build reads and writes no .keras files; " DISTRIBUTE_GET_LIBZIP);
}

DISTRIBUTE_INLINE std::string read_zip_entry(const std::string&, const std::string&,
                                             const std::string&) {
  refuse_zip();
}
DISTRIBUTE_INLINE std::string encode_zip(const std::vector<std::pair<std::string, std::string>>&) {
  refuse_zip();
}

}  // namespace distribute::saving_internal
#endif
