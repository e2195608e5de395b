#pragma once
#if !DISTRIBUTE_HAS_FARMHASH
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE bool has_farmhash() { return false; }

DISTRIBUTE_INLINE uint64_t fingerprint64(std::string_view) {
  throw UnimplementedError(
      "this build has no FarmHash, which puts strings into TensorFlow's "
      "buckets; " DISTRIBUTE_GET_FARMHASH);
}
DISTRIBUTE_INLINE int64_t hash_bucket(std::string_view text, int64_t) {
  return int64_t(fingerprint64(text));
}

}  // namespace distribute::preprocessing::preprocessing_internal
#endif
