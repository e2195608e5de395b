#pragma once
#include <distribute/nn/embedding.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Embedding::Embedding(EmbeddingOptions options)
    : LoraLayer(options.name), options_(std::move(options)) {
  if (options_.input_dim < 1 || options_.output_dim < 1)
    throw InvalidArgumentError(str_cat("Embedding: input_dim and output_dim must be positive, got ",
                                       options_.input_dim, " and ", options_.output_dim));
}

DISTRIBUTE_INLINE void Embedding::build(const Shape&) {
  embeddings_ = add_weight("embeddings", {options_.input_dim, options_.output_dim},
                           options_.embeddings_initializer,
                           nn_internal::constrained(options_.embeddings_constraint));
  build_lora(options_.lora_rank, options_.lora_alpha);
}

DISTRIBUTE_INLINE LoraLayer::LoraTarget Embedding::lora_target() const {
  return {"embeddings", embeddings_, bool(options_.embeddings_constraint)};
}

DISTRIBUTE_INLINE Tensor Embedding::call(const Tensor& x, CallOptions) {
  const Tensor rows = embedding_lookup(embeddings_, x);
  return autocast(lora_enabled() ? rows + lora_product(embedding_lookup(lora_a(), x)) : rows);
}

DISTRIBUTE_INLINE std::vector<Tensor> Embedding::own_losses() const {
  return penalties(options_.embeddings_regularizer, embeddings_, {}, {});
}

DISTRIBUTE_INLINE Tensor Embedding::compute_mask(const Tensor& x) const {
  return options_.mask_zero ? not_equal(x, scalar_like(x, 0)) : Tensor();
}

DISTRIBUTE_INLINE Masked Embedding::masked_call(const Tensor& x, CallOptions options) {
  const Tensor mask = compute_mask(x);
  return {call(x, std::move(options)), mask};
}

}  // namespace distribute::nn
