#pragma once
/// Numbers of categories as vectors.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>

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

}  // namespace distribute::preprocessing
