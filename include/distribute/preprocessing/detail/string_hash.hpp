#pragma once
/// The hash functions with which TensorFlow puts strings into buckets.

#include <distribute/base/config.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace distribute::preprocessing {

/// The key of a hash; one number stands for both halves.
struct HashSalt {
  uint64_t first = 0, second = 0;
  HashSalt(uint64_t both) : HashSalt(both, both) {}
  HashSalt(uint64_t one, uint64_t other) : first(one), second(other) {}
};

}  // namespace distribute::preprocessing

namespace distribute::preprocessing::preprocessing_internal {

/// Computes FarmHash's Fingerprint64.
/// Throws  UnimplementedError in a build without libfarmhash.
uint64_t fingerprint64(std::string_view text);
/// Computes FarmHash's Fingerprint64 modulo `num_buckets`.
/// Throws  as fingerprint64().
/// Source  tf.strings.to_hash_bucket_fast
int64_t hash_bucket(std::string_view text, int64_t num_buckets);
bool has_farmhash();

/// Computes SipHash-2-4 modulo `num_buckets`.
/// Throws  UnimplementedError in a build without OpenSSL.
/// Source  tf.strings.to_hash_bucket_strong; Aumasson & Bernstein, "SipHash: a fast short-input
///         PRF", 2012
int64_t keyed_hash_bucket(std::string_view text, int64_t num_buckets, std::array<uint64_t, 2> key);
bool has_keyed_hash();

/// Hashes by FarmHash, or with a salt by SipHash.
inline int64_t hash_bucket(std::string_view text, int64_t num_buckets,
                           const std::optional<HashSalt>& salt) {
  return salt ? keyed_hash_bucket(text, num_buckets, {salt->first, salt->second})
              : hash_bucket(text, num_buckets);
}

}  // namespace distribute::preprocessing::preprocessing_internal
