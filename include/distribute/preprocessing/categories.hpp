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

/// The form of a layer's output. Source  the argument output_mode of Keras' layers
enum class OutputMode {
  Int,       // the numbers themselves
  OneHot,    // a vector for each number
  MultiHot,  // a vector for each example that marks the numbers in it
  Count,     // a vector for each example that counts each number
  TfIdf,     // the count times the token's weight
};

/// Holds the options of CategoryEncoding.
struct CategoryEncodingOptions {
  int64_t num_tokens = 0;
  OutputMode output_mode = OutputMode::MultiHot;
};

/// Turns category numbers into vectors.
/// Shapes  OneHot: [d0, ..., dn] -> float32 [d0, ..., dn, num_tokens], without an axis dn of size
///         1; MultiHot, Count: [batch, numbers] -> [batch, num_tokens], [numbers] -> [num_tokens].
/// Throws  InvalidArgumentError for num_tokens below 1, another mode, or numbers outside [0,
///         num_tokens).
/// Source  tf.keras.layers.CategoryEncoding
class CategoryEncoding {
 public:
  explicit CategoryEncoding(const CategoryEncodingOptions& options);
  Tensor operator()(const Tensor& numbers) const;
  /// Counts each number with the weight at the same position, in the mode Count.
  Tensor operator()(const Tensor& numbers, const Tensor& count_weights) const;

 private:
  CategoryEncodingOptions options_;
};

/// Turns int64 `numbers` into vectors of `depth` elements, of float32 or int64, for all layers. A
/// number of `depth` or more leaves its vector unchanged. `weights`, which has the numbers' shape,
/// is used by Count. Throws  InvalidArgumentError for MultiHot and Count of more than two axes.
Tensor encode_categories(const Tensor& numbers, OutputMode mode, int64_t depth, DType dtype,
                         const Tensor& weights = {});

/// Holds the options of Discretization.
/// Source  the arguments of tf.keras.layers.Discretization
struct DiscretizationOptions {
  std::vector<float> bin_boundaries = {};  // in rising order; empty: adapt() finds num_bins - 1
  std::optional<int64_t> num_bins = {};
  double epsilon = 0.01;  // error of the quantiles that adapt() finds; a larger one is faster
  OutputMode output_mode = OutputMode::Int;
};

namespace preprocessing_internal {

/// The boundaries that a Discretization learns.
struct Boundaries {
  std::vector<float> ends;
  std::string bytes() const;
  static Boundaries from_bytes(const std::string& bytes);
};

}  // namespace preprocessing_internal

/// Gives for each value the number of boundaries that are not above it. Thread-compatible while it
/// learns, then thread-safe to call. In a parameter server job workers use what the chief has
/// learned, as with StringLookup.
/// Shapes  numbers of any shape -> int32 of the same shape; vectors as CategoryEncoding gives them
/// Throws  InvalidArgumentError unless either boundaries or num_bins are given.
/// Source  tf.keras.layers.Discretization
class Discretization {
 public:
  explicit Discretization(DiscretizationOptions options);

  /// Finds boundaries that make the ranges equally frequent, from summaries of the batches' first
  /// component.
  /// Throws  FailedPreconditionError if boundaries were given.
  void adapt(const data::Dataset& dataset);
  void adapt(const Tensor& data);
  /// Returns the boundaries; empty before adapt().
  const std::vector<float>& bin_boundaries() const;

  Tensor operator()(const Tensor& x) const;

 private:
  DiscretizationOptions options_;
  bool learns_;
  preprocessing_internal::Learned<preprocessing_internal::Boundaries> learned_;
};

/// Holds the options of Hashing.
/// Source  the arguments of tf.keras.layers.Hashing
struct HashingOptions {
  int64_t num_bins = 0;
  /// the only value in bucket 0; integers as decimal text
  std::optional<std::string> mask_value = {};
  std::optional<HashSalt> salt = {};  // {133} or {{133, 137}}: SipHash with this key
  OutputMode output_mode = OutputMode::Int;
};

/// Puts strings and integers into TensorFlow's buckets: FarmHash's fingerprint of the string, or of
/// the integer as decimal text, modulo num_bins; with a salt SipHash-2-4. Thread-safe.
/// Shapes  strings (preprocessing/text_vectorization.hpp) or numbers -> int64 of the same shape;
///         float32 vectors as CategoryEncoding gives them
/// Throws  InvalidArgumentError for num_bins below 1; UnimplementedError in a build without
///         libfarmhash or, with a salt, without OpenSSL.
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

/// Holds the options of HashedCrossing.
struct HashedCrossingOptions {
  int64_t num_bins = 0;
  OutputMode output_mode = OutputMode::Int;
};

/// Puts combinations of categories into TensorFlow's buckets: integers, and the fingerprints of
/// strings, are hashed one after the other. Thread-safe.
/// Shapes  two or more tensors of strings (preprocessing/text_vectorization.hpp) or integers, each
///         [], [batch] or [batch, 1] -> int64 of the same shape; with OneHot float32
///         [batch, num_bins], for scalars [1, num_bins].
/// Throws  InvalidArgumentError for num_bins below 1, another output mode, fewer than two inputs,
///         other or differing shapes, and floating point numbers; UnimplementedError for strings in
///         a build without libfarmhash.
/// Source  tf.keras.layers.HashedCrossing; tf.sparse.cross_hashed
class HashedCrossing {
 public:
  explicit HashedCrossing(HashedCrossingOptions options);
  explicit HashedCrossing(int64_t num_bins)
      : HashedCrossing(HashedCrossingOptions{.num_bins = num_bins}) {}

  Tensor operator()(const std::vector<Tensor>& inputs) const;

 private:
  HashedCrossingOptions options_;
};

}  // namespace distribute::preprocessing
