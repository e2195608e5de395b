#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE GroupQueryAttention::GroupQueryAttention(GroupQueryAttentionOptions options)
    : Module(options.name), options_(std::move(options)) {
  const auto& o = options_;
  if (o.head_dim < 1 || o.num_query_heads < 1 || o.num_key_value_heads < 1)
    throw InvalidArgumentError(str_cat(
        "GroupQueryAttention: head_dim ", o.head_dim, ", num_query_heads ", o.num_query_heads,
        " and num_key_value_heads ", o.num_key_value_heads, " must be positive"));
  if (o.num_query_heads % o.num_key_value_heads)
    throw InvalidArgumentError("`num_query_heads` must be divisible by `num_key_value_heads`.");
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

DISTRIBUTE_INLINE Tensor GroupQueryAttention::with_all_heads(const Tensor& x) const {
  const int64_t share = options_.num_query_heads / options_.num_key_value_heads;
  return share == 1 ? x : repeat(x, share, 2);
}

DISTRIBUTE_INLINE Tensor GroupQueryAttention::attend(const Tensor& x, const AttentionStep& step) {
  const std::vector<Tensor> inputs{x};
  return enter(inputs, [&] {
    Tensor q = (*query_)(x), k = (*key_)(x), v = (*value_)(x);
    if (rotary_) {
      const RotaryAngles angles =
          step.angles.cosines ? step.angles : rotary_->angles(step.positions, options_.head_dim);
      q = RotaryEmbedding::turn(q, angles);
      k = RotaryEmbedding::turn(k, angles);
    }
    if (step.kept && step.kept->keys) {
      k = concat({step.kept->keys, k}, 1);
      v = concat({step.kept->values, v}, 1);
    }
    if (step.kept) *step.kept = {k, v};
    const Tensor all = dot_product_attention(q, with_all_heads(k), with_all_heads(v), step.masks);
    return (*output_)(all);
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
  return attend(x, {.positions = reshape(range(int32_t(x.shape()[1])), {1, x.shape()[1]}),
                    .masks = {.is_causal = options_.use_causal_mask,
                              .query_mask = options.mask,
                              .key_mask = options.mask}});
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
