#pragma once
/// Layers that turn numbers and strings into categories.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/preprocessing/detail/learned.hpp>
#include <distribute/preprocessing/detail/string_hash.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::preprocessing {

/// What a layer of categories gives. Source  the argument output_mode of Keras' layers
enum class OutputMode {
  Int,       // the numbers
  OneHot,    // a vector for each number
  MultiHot,  // a vector for each example: which of the numbers occur
  Count,     // how often
  TfIdf,     // how often, times the token's weight
};

/// Options of CategoryEncoding.
struct CategoryEncodingOptions {
  int64_t num_tokens = 0;
  OutputMode output_mode = OutputMode::MultiHot;
};

/// Shapes  OneHot: [d0, ..., dn] -> float32 [d0, ..., dn, num_tokens], an axis dn of size 1 is left
///         out; MultiHot, Count: [batch, numbers] -> [batch, num_tokens], [numbers] ->
///         [num_tokens].
/// Throws  InvalidArgumentError for num_tokens below 1, another mode, or numbers below 0 or from
///         num_tokens on.
/// Source  tf.keras.layers.CategoryEncoding
class CategoryEncoding {
 public:
  explicit CategoryEncoding(const CategoryEncodingOptions& options);
  Tensor operator()(const Tensor& numbers) const;
  /// For Count: each number counts as much as its weight, which has the same place.
  Tensor operator()(const Tensor& numbers, const Tensor& count_weights) const;

 private:
  CategoryEncodingOptions options_;
};

/// What the layers share: int64 `numbers` as vectors of `depth`, of float32 or int64. A number from
/// `depth` on leaves its vector as it is. `weights`, of the numbers' shape, are for Count.
/// Throws  InvalidArgumentError for MultiHot and Count of more than two axes.
Tensor encode_categories(const Tensor& numbers, OutputMode mode, int64_t depth, DType dtype,
                         const Tensor& weights = {});

/// Source  the arguments of tf.keras.layers.Discretization
struct DiscretizationOptions {
  std::vector<float> bin_boundaries = {};  // in rising order; none: adapt() finds num_bins - 1
  std::optional<int64_t> num_bins = {};
  double epsilon = 0.01;  // of the quantiles that adapt() finds: larger is quicker
  OutputMode output_mode = OutputMode::Int;
};

namespace preprocessing_internal {

/// What a Discretization learns.
struct Boundaries {
  std::vector<float> ends;
  std::string bytes() const;
  static Boundaries from_bytes(const std::string& bytes);
};

}  // namespace preprocessing_internal

/// The number of boundaries that are not above a value.
/// Thread-compatible while it learns, then thread-safe to call. In a parameter server job workers
/// take what the chief has learned, as StringLookup's do.
/// Shapes  numbers of any shape -> int32 of the same; vectors as CategoryEncoding gives them
/// Throws  InvalidArgumentError unless either boundaries or num_bins are given.
/// Source  tf.keras.layers.Discretization
class Discretization {
 public:
  explicit Discretization(DiscretizationOptions options);

  /// Finds boundaries between equally frequent ranges, from summaries of the batches' first
  /// component.
  /// Throws  FailedPreconditionError where boundaries were given.
  void adapt(const data::Dataset& dataset);
  void adapt(const Tensor& data);
  /// It is empty before adapt().
  const std::vector<float>& bin_boundaries() const;

  Tensor operator()(const Tensor& x) const;

 private:
  DiscretizationOptions options_;
  bool learns_;
  preprocessing_internal::Learned<preprocessing_internal::Boundaries> learned_;
};

/// Source  the arguments of tf.keras.layers.Hashing
struct HashingOptions {
  int64_t num_bins = 0;
  std::optional<std::string> mask_value = {};  // the only one in bucket 0; integers in decimal
  std::optional<HashSalt> salt = {};           // {133} or {{133, 137}}: SipHash with this key
  OutputMode output_mode = OutputMode::Int;
};

/// FarmHash's fingerprint of the string, or of the integer in decimal, modulo num_bins; with a salt
/// SipHash-2-4: TensorFlow's buckets. Thread-safe.
/// Shapes  strings (preprocessing/text_vectorization.hpp) or numbers ->
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
