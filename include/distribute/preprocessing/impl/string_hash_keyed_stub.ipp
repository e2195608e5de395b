#pragma once
#if !DISTRIBUTE_HAS_OPENSSL
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE bool has_keyed_hash() { return false; }

DISTRIBUTE_INLINE int64_t keyed_hash_bucket(std::string_view, int64_t, std::array<uint64_t, 2>) {
  throw UnimplementedError(
      "this build has no OpenSSL, which hashes strings with a salt; " DISTRIBUTE_GET_OPENSSL);
}

}  // namespace distribute::preprocessing::preprocessing_internal
#endif
