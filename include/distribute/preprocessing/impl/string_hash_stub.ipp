#pragma once
#if !DISTRIBUTE_HAS_FARMHASH
#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE bool has_farmhash() { return false; }

DISTRIBUTE_INLINE int64_t hash_bucket(std::string_view, int64_t) {
  throw UnimplementedError(
      "this build has no FarmHash, which puts strings into TensorFlow's "
      "buckets; " DISTRIBUTE_GET_FARMHASH);
}

}  // namespace distribute::preprocessing::preprocessing_internal
#endif
