#pragma once
/// Attention along some axes of tensors that have more than batch, steps and features.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::nn::nn_internal {

/// Gives what both allow; one that is empty allows all.
Tensor both(const Tensor& a, const Tensor& b);
/// bool [1, queries, keys]: true where the positions differ by less than `window`.
Tensor near_mask(int64_t queries, int64_t keys, int64_t window, Device device);

struct AttentionMasks {                // what a query may attend to
  Tensor queries, keys;                // of steps: bool [batch, axes...]
  Tensor pairs;                        // bool, shaped as scores or with fewer axes
  bool is_causal = false;              // no later keys
  std::optional<int64_t> window = {};  // near keys alone
};

/// Which axes of queries and keys [batch, axes..., heads, size] attend to each other. Folded
/// tensors have batch, all other axes and heads in the first axis. Thread-compatible.
class AttentionAxes {
 public:
  /// `rank` is the one of the layer's inputs; no axes: all between batch and features.
  /// Throws  InvalidArgumentError for other axes than these, and one that occurs twice.
  AttentionAxes(const std::vector<int>& axes, int rank);

  /// Shapes  [batch, axes..., heads, size] -> [batch * others * heads, attending, 1, size].
  Tensor folded(const Tensor& x) const;
  /// Does the reverse; `query` is the shape of the query of all heads.
  Tensor unfolded(const Tensor& x, const Shape& query) const;
  /// Joins the masks as Keras does; empty where there is none.
  /// Shapes  q, k as for folded() -> bool [batch * others * heads, queries, keys].
  /// Throws  InvalidArgumentError for a mask that does not fit, and for one of steps where several
  ///         axes attend.
  Tensor folded_mask(const AttentionMasks& masks, const Tensor& q, const Tensor& k) const;
  /// Shapes  [batch * others * heads, 1, queries, keys] -> scores_shape().
  Tensor unfolded_scores(const Tensor& scores, const Shape& query, const Shape& key) const;

 private:
  /// [batch, others..., heads, queries..., keys...].
  Shape scores_shape(const Shape& query, const Shape& key) const;
  Tensor joined(const AttentionMasks& masks, const Tensor& q, const Tensor& k) const;

  std::vector<int> attending_;
  std::vector<int> order_;  // of a tensor of heads: batch, others, heads, attending, size
};

}  // namespace distribute::nn::nn_internal
