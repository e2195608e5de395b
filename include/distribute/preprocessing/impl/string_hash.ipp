#pragma once
#if DISTRIBUTE_HAS_FARMHASH
#include <distribute/preprocessing/detail/string_hash.hpp>

#include <farmhash.h>

namespace distribute::preprocessing::preprocessing_internal {

DISTRIBUTE_INLINE bool has_farmhash() { return true; }

DISTRIBUTE_INLINE uint64_t fingerprint64(std::string_view text) {
  return util::Fingerprint64(text.data(), text.size());
}
DISTRIBUTE_INLINE int64_t hash_bucket(std::string_view text, int64_t num_buckets) {
  return int64_t(fingerprint64(text) % uint64_t(num_buckets));
}

}  // namespace distribute::preprocessing::preprocessing_internal
#endif
