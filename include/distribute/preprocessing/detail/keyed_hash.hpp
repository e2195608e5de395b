#pragma once
/// The hash with a key that TensorFlow puts strings into buckets with.

#include <distribute/base/config.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace distribute::preprocessing::preprocessing_internal {

/// SipHash-2-4 modulo `num_buckets`.
/// Throws  UnimplementedError in a build without OpenSSL.
/// Source  tf.strings.to_hash_bucket_strong; Aumasson & Bernstein, "SipHash: a fast short-input
///         PRF", 2012
int64_t keyed_hash_bucket(std::string_view text, int64_t num_buckets, std::array<uint64_t, 2> key);
bool has_keyed_hash();

}  // namespace distribute::preprocessing::preprocessing_internal
