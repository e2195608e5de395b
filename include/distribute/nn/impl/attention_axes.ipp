#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/attention_axes.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <algorithm>
#include <set>
#include <span>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE Tensor both(const Tensor& a, const Tensor& b) {
  return a && b ? logical_and(a, b) : a ? a : b;
}

DISTRIBUTE_INLINE Tensor near_mask(int64_t queries, int64_t keys, int64_t window, Device device) {
  const Tensor rows = reshape(range(queries), {1, queries, 1});
  return (abs(rows - reshape(range(keys), {1, 1, keys})) < window).to(device);
}

DISTRIBUTE_INLINE AttentionAxes::AttentionAxes(const std::vector<int>& axes, int rank) {
  for (const int axis : axes) attending_.push_back(axis < 0 ? axis + rank : axis);
  if (axes.empty())
    for (int axis = 1; axis < rank - 1; ++axis) attending_.push_back(axis);
  const std::set<int> all(attending_.begin(), attending_.end());
  if (all.size() < attending_.size() || *all.begin() < 1 || *all.rbegin() > rank - 2)
    throw InvalidArgumentError(
        str_cat("MultiHeadAttention: attention_axes must be different axes between batch and ",
                "features of an input of ", rank, " axes"));
  order_.push_back(0);
  for (int axis = 1; axis < rank - 1; ++axis)
    if (!all.contains(axis)) order_.push_back(axis);
  order_.push_back(rank - 1);
  order_.insert(order_.end(), attending_.begin(), attending_.end());
  order_.push_back(rank);
}

DISTRIBUTE_INLINE Tensor AttentionAxes::folded(const Tensor& x) const {
  const Tensor turned = transpose(x, order_);
  int64_t steps = 1;
  for (const int axis : attending_) steps *= x.shape()[axis];
  const int64_t size = x.shape()[-1], rest = x.num_elements() / std::max<int64_t>(steps * size, 1);
  return reshape(turned, {rest, steps, 1, size});
}

DISTRIBUTE_INLINE Tensor AttentionAxes::unfolded(const Tensor& x, const Shape& query) const {
  Shape turned;
  for (const int axis : order_) turned.push_back(query[axis]);
  std::vector<int> back(order_.size());
  for (size_t i = 0; i < order_.size(); ++i) back[size_t(order_[i])] = int(i);
  return transpose(reshape(x, turned.with(-1, x.shape()[-1])), back);
}

DISTRIBUTE_INLINE Shape AttentionAxes::scores_shape(const Shape& query, const Shape& key) const {
  Shape shape;
  for (const int axis : std::span(order_).first(order_.size() - 1)) shape.push_back(query[axis]);
  for (const int axis : attending_) shape.push_back(key[axis]);
  return shape;
}

DISTRIBUTE_INLINE Tensor AttentionAxes::unfolded_scores(const Tensor& scores, const Shape& query,
                                                        const Shape& key) const {
  return reshape(scores, scores_shape(query, key));
}

/// Source  keras.layers.MultiHeadAttention._compute_attention_mask
DISTRIBUTE_INLINE Tensor AttentionAxes::joined(const AttentionMasks& masks, const Tensor& q,
                                               const Tensor& k) const {
  if (!masks.queries && !masks.keys && !masks.is_causal && !masks.window) return masks.pairs;
  if (attending_.size() > 1)
    throw InvalidArgumentError(
        str_cat("MultiHeadAttention: ", attending_.size(), " axes attend, of which a mask of ",
                "steps, a causal one or a sliding window knows one; give attention_mask"));
  const int64_t queries = q.shape()[attending_[0]], keys = k.shape()[attending_[0]];
  Tensor all;
  if (masks.queries) all = expand_dims(masks.queries, -1);
  if (masks.keys) all = both(all, expand_dims(masks.keys, -2));
  if (masks.is_causal)
    all = both(all, greater_equal(reshape(range(queries), {1, queries, 1}),
                                  reshape(range(keys), {1, 1, keys}))
                        .to(q.device()));
  if (masks.window) all = both(all, near_mask(queries, keys, *masks.window, q.device()));
  return both(masks.pairs, all);
}

DISTRIBUTE_INLINE Tensor AttentionAxes::folded_mask(const AttentionMasks& masks, const Tensor& q,
                                                    const Tensor& k) const {
  Tensor mask = joined(masks, q, k);
  if (!mask) return mask;
  const Shape shape = scores_shape(q.shape(), k.shape());
  const int pairs = 2 * int(attending_.size());
  if (mask.shape().rank() < pairs || mask.shape().rank() > shape.rank())
    throw InvalidArgumentError(str_cat("MultiHeadAttention: a mask ", to_string(mask.shape()),
                                       " does not fit scores ", to_string(shape)));
  while (mask.shape().rank() < shape.rank()) mask = expand_dims(mask, mask.shape().rank() - pairs);
  int64_t queries = 1, keys = 1;
  for (const int axis : attending_) queries *= q.shape()[axis], keys *= k.shape()[axis];
  const int64_t rest = shape.num_elements() / std::max<int64_t>(queries * keys, 1);
  return reshape(broadcast_to(mask, shape), {rest, queries, keys});
}

}  // namespace distribute::nn::nn_internal
