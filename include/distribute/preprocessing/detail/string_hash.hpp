#pragma once
/// The hash that TensorFlow puts strings into buckets with.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string_view>

namespace distribute::preprocessing::preprocessing_internal {

/// FarmHash's Fingerprint64 modulo `num_buckets`.
/// Throws  UnimplementedError in a build without libfarmhash.
/// Source  tf.strings.to_hash_bucket_fast
int64_t hash_bucket(std::string_view text, int64_t num_buckets);
bool has_farmhash();

}  // namespace distribute::preprocessing::preprocessing_internal
