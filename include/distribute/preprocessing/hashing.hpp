#pragma once
/// Strings and integers as numbers of buckets, without a vocabulary.

#include <distribute/base/config.hpp>
#include <distribute/preprocessing/category_encoding.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace distribute::preprocessing {

/// Source  the arguments of tf.keras.layers.Hashing
struct HashingOptions {
  int64_t num_bins = 0;
  std::optional<std::string> mask_value = {};  // the only one in bucket 0; integers in decimal
  std::optional<HashSalt> salt = {};           // {133} or {{133, 137}}: SipHash with this key
  OutputMode output_mode = OutputMode::Int;
};

/// FarmHash's fingerprint of the string, or of the integer in decimal, modulo num_bins; with a salt
/// SipHash-2-4: TensorFlow's buckets. Thread-safe.
/// Shapes  strings (preprocessing/strings.hpp) or numbers ->
/// int64 of the same places; vectors,
///         float32, as CategoryEncoding gives them
/// Throws  InvalidArgumentError for num_bins below 1; UnimplementedError in a build without
///         libfarmhash, with a salt without OpenSSL.
/// Source  tf.keras.layers.Hashing
class Hashing {
 public:
  explicit Hashing(HashingOptions options);
  explicit Hashing(int64_t num_bins) : Hashing(HashingOptions{.num_bins = num_bins}) {}

  Tensor operator()(const Tensor& input) const;

 private:
  int64_t bucket_of(const std::string& text) const;

  HashingOptions options_;
};

}  // namespace distribute::preprocessing
