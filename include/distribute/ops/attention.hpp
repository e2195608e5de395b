#pragma once
/// Attention of queries over keys, without the matrix of all scores.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace distribute::nn {

/// Keys that a query may attend to: those that all of these allow.
struct AttentionOptions {
  std::optional<double> scale = {};  // factor of the scores; unset: 1 / sqrt(depth)
  bool is_causal = false;            // allows keys up to the query's own position
  Tensor query_mask = {};            // bool [batch, queries]
  Tensor key_mask = {};              // bool [batch, keys]
  Tensor mask = {};                  // bool [batch or 1, queries, keys]
  double dropout = 0;                // of the probabilities
  /// The first keys, which alone exist: the steps behind them are room for later ones. 0: all.
  int64_t key_value_seq_length = 0;
  /// Makes queries that may attend to no key get zeros instead of the mean of all values. Keras's
  /// function gives the mean, as it replaces forbidden scores by a large negative number; so does
  /// its layer without dropout. With dropout the layer gives zeros, also outside of training.
  bool zeros_without_keys = false;
  uint64_t seed = 0;  // of the dropout, and a number that differs from call to call
  std::function<uint64_t()> counter = {};
};

/// Computes softmax(scale q k^T) v for every head. On CPUs without dropout it computes block by
/// block with a running softmax, and the gradient computes the scores again, so that memory grows
/// with the length and not with its square; it has no second derivative. cuDNN does the same on
/// GPUs in 16 bits, without masks except the causal one. In other cases on GPUs, and with dropout,
/// all scores are in memory at once. Several successive heads of the query may share a head of key
/// and value.
/// Shapes  query [batch, queries, heads, depth], key [batch, keys, shared heads, depth], value
///          [batch, keys, shared heads, width] -> [batch, queries, heads, width]. Floating. A mask
///          has key_value_seq_length keys, the key mask all.
/// Throws  InvalidArgumentError with the shapes that do not fit.
/// Source  keras.ops.dot_product_attention, jax.nn.dot_product_attention; Dao et al.,
/// "FlashAttention", 2022
Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const AttentionOptions& options = {});

}  // namespace distribute::nn
