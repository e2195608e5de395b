#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace distribute::nn {

DISTRIBUTE_INLINE GroupQueryAttention::GroupQueryAttention(GroupQueryAttentionOptions options)
    : LayerOf(std::move(options)) {
  const auto& o = options_;
  if (o.head_dim < 1 || o.num_query_heads < 1 || o.num_key_value_heads < 1)
    throw InvalidArgumentError(str_cat(
        "GroupQueryAttention: head_dim ", o.head_dim, ", num_query_heads ", o.num_query_heads,
        " and num_key_value_heads ", o.num_key_value_heads, " must be positive"));
  if (o.num_query_heads % o.num_key_value_heads)
    throw InvalidArgumentError("`num_query_heads` must be divisible by `num_key_value_heads`.");
  if (!(o.dropout >= 0 && o.dropout < 1))
    throw InvalidArgumentError(
        str_cat("GroupQueryAttention: dropout must be in [0, 1), got ", o.dropout));
  if (o.dropout > 0) dropout_.emplace(DropoutOptions{.rate = o.dropout, .seed = o.seed});
  if (o.rotary) rotary_.emplace(*o.rotary);
  query_ = &product("query", o.num_query_heads);
  key_ = &product("key", o.num_key_value_heads);
  value_ = &product("value", o.num_key_value_heads);
}

DISTRIBUTE_INLINE EinsumDense& GroupQueryAttention::product(const std::string& name,
                                                            int64_t heads) {
  return add(name, EinsumDense({.equation = "bsd,dhk->bshk",
                                .output_shape = {-1, heads, options_.head_dim},
                                .bias_axes = options_.use_bias ? "hk" : "",
                                .kernel_initializer = options_.kernel_initializer,
                                .bias_initializer = options_.bias_initializer}));
}

namespace language_models_internal {

/// Copies the first `count` steps of each example to the steps from `first` on.
DISTRIBUTE_INLINE void copy_steps(const Tensor& from, int64_t count, const Tensor& to,
                                  int64_t first) {
  const Shape &a = from.shape(), &b = to.shape();
  const int64_t bytes = int64_t(size_of(from.dtype())) * a[2] * a[3];
  for (int64_t i = 0; i < a[0]; ++i)
    std::memcpy(to.array().bytes() + (i * b[1] + first) * bytes,
                from.array().bytes() + i * a[1] * bytes, size_t(count * bytes));
}

/// Adds the steps of x to the `steps` that `all` has; it has room for `room` afterwards.
DISTRIBUTE_INLINE void append_steps(Tensor& all, int64_t steps, const Tensor& x, int64_t room) {
  if (is_gpu(x.device())) {
    all = all ? concat({all, x}, 1) : x;
    return;
  }
  if (!all || room > all.shape()[1]) {
    const Tensor old = all;
    all = Tensor::empty(x.shape().with(1, room), x.dtype(), x.device());
    if (old) copy_steps(old, steps, all, 0);
  }
  copy_steps(x.row_major(), x.shape()[1], all, steps);
}

/// Puts the steps of x [batch, steps, heads, depth] at their places in `all`.
DISTRIBUTE_INLINE Tensor placed_steps(const Tensor& all, const Tensor& x, const Tensor& places) {
  const Shape& shape = all.shape();
  const int64_t steps = x.shape()[1], room = shape[1], width = shape[2] * shape[3];
  const Tensor numbers = reshape(range(int32_t(room)), {1, 1, room});
  const Tensor own = equal(reshape(places, {-1, steps, 1}), numbers);
  const Tensor moved =
      matmul(cast(own, x.dtype()), reshape(x, {-1, steps, width}), {.transpose_a = true});
  const Tensor is_new = reshape(reduce_any(own, {1}), {-1, room, 1, 1});
  return where(is_new, reshape(moved, {-1, room, shape[2], shape[3]}), cast(all, x.dtype()));
}

/// The angles of a call's steps.
DISTRIBUTE_INLINE RotaryAngles angles_of(const RotaryEmbedding& rotary, const AttentionStep& step,
                                         int64_t depth) {
  if (step.angles.cosines) return step.angles;
  return step.by_operations ? rotary.angles_by_operations(step.positions, depth)
                            : rotary.angles(step.positions, depth);
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE void KeyValues::append(const Tensor& keys, const Tensor& values, int64_t room) {
  if (places_) {
    keys_ = language_models_internal::placed_steps(keys_, keys, places_);
    values_ = language_models_internal::placed_steps(values_, values, places_);
    return;
  }
  const int64_t wanted = steps_ + keys.shape()[1];
  const int64_t had = keys_ ? keys_.shape()[1] : 0;
  if (room < wanted) room = wanted <= had ? had : std::max(wanted, 2 * steps_);
  language_models_internal::append_steps(keys_, steps_, keys, room);
  language_models_internal::append_steps(values_, steps_, values, room);
  steps_ = wanted;
}

DISTRIBUTE_INLINE Tensor GroupQueryAttention::attend(const Tensor& x, const AttentionStep& step,
                                                     CallOptions options) {
  const std::vector<Tensor> inputs{x};
  return enter(inputs, [&] {
    Tensor q = (*query_)(x), k = (*key_)(x), v = (*value_)(x);
    if (rotary_) {
      const RotaryAngles angles =
          language_models_internal::angles_of(*rotary_, step, options_.head_dim);
      q = RotaryEmbedding::turn(q, angles);
      k = RotaryEmbedding::turn(k, angles);
    }
    AttentionOptions masks = step.masks;
    if (dropout_ && options.training) {
      masks.dropout = dropout_->rate();
      std::tie(masks.seed, masks.counter) = dropout_->call_seed();
    }
    if (!step.kept) return (*output_)(dot_product_attention(q, k, v, masks));
    step.kept->append(k, v, step.room);
    masks.key_value_seq_length = step.kept->steps();
    return (*output_)(dot_product_attention(q, step.kept->keys(), step.kept->values(), masks));
  });
}

DISTRIBUTE_INLINE void GroupQueryAttention::build(const Shape& input) {
  if (input.rank() != 3)
    throw InvalidArgumentError(str_cat("GroupQueryAttention '", name(),
                                       "' takes [batch, steps, features], got ", to_string(input)));
  const bool bias = options_.use_output_bias.value_or(options_.use_bias);
  output_ = &add("attention_output", EinsumDense({.equation = "bshk,hkd->bsd",
                                                  .output_shape = {-1, input[-1]},
                                                  .bias_axes = bias ? "d" : "",
                                                  .kernel_initializer = options_.kernel_initializer,
                                                  .bias_initializer = options_.bias_initializer}));
  output_->set_dtype_policy(dtype_policy());
  for (EinsumDense* part : {query_, key_, value_}) part->ensure_built(input);
  output_->ensure_built({input[0], input[1], options_.num_query_heads, options_.head_dim});
}

DISTRIBUTE_INLINE Tensor GroupQueryAttention::call(const Tensor& x, CallOptions options) {
  return attend(x,
                {.positions = reshape(range(int32_t(x.shape()[1])), {1, x.shape()[1]}),
                 .masks = {.is_causal = options_.use_causal_mask,
                           .query_mask = options.mask,
                           .key_mask = options.mask,
                           .zeros_without_keys = options_.dropout > 0}},
                options);
}

DISTRIBUTE_INLINE SwiGLU::SwiGLU(SwiGLUOptions options)
    : Module(options.name),
      options_(std::move(options)),
      gate_(add("gate_proj", Dense({.units = options_.units, .use_bias = options_.use_bias}))),
      up_(add("up_proj", Dense({.units = options_.units, .use_bias = options_.use_bias}))) {}

DISTRIBUTE_INLINE void SwiGLU::build(const Shape& input) {
  down_ = &add("down_proj", Dense({.units = input[-1], .use_bias = options_.use_bias}));
  down_->set_dtype_policy(dtype_policy());
}

DISTRIBUTE_INLINE Tensor SwiGLU::call(const Tensor& x, CallOptions options) {
  return (*down_)(silu(gate_(x, options)) * up_(x, options), options);
}

}  // namespace distribute::nn
