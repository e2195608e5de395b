#pragma once
/// The network of this example: characters -> logits of the next one at every place.

#include "flags.hpp"

#include <distribute/distribute.hpp>

#include <memory>

namespace text_transformer {

namespace nn = distribute::nn;

/// Rows of a small table. Its gradient is dense, as that of any operation on the table is, and not
/// the rows of the batch: --clip_norm sees the same norm whatever the number of replicas.
class Table : public nn::Module {
 public:
  Table(int64_t rows, int64_t width) : shape_{rows, width} {}

 private:
  void build(const distribute::Shape&) override {
    rows_ = add_weight("embeddings", shape_, nn::initializers::random_uniform());
  }
  distribute::Tensor call(const distribute::Tensor& numbers, nn::CallOptions) override {
    return autocast(distribute::gather(rows_.value() * 1.0f, numbers));
  }

  const distribute::Shape shape_;
  distribute::Variable rows_;
};

/// Attention to the characters before, then two dense layers; each adds to what came in.
class Block : public nn::Module {
 public:
  explicit Block(const Options& o)
      : norm1_(add("norm1", nn::LayerNormalization())),
        attention_(add("attention", nn::MultiHeadAttention({.num_heads = o.heads,
                                                            .key_dim = o.width / o.heads,
                                                            .use_causal_mask = true}))),
        drop1_(add("drop1", nn::Dropout(o.dropout))),
        norm2_(add("norm2", nn::LayerNormalization())),
        hidden_(add("hidden", nn::Dense({.units = 4 * o.width, .activation = nn::gelu}))),
        out_(add("out", nn::Dense({.units = o.width}))),
        drop2_(add("drop2", nn::Dropout(o.dropout))) {}

 private:
  distribute::Tensor call(const distribute::Tensor& x, nn::CallOptions options) override {
    const auto y = x + drop1_(attention_(norm1_(x, options), options), options);
    return y + drop2_(out_(hidden_(norm2_(y, options), options), options), options);
  }

  nn::LayerNormalization& norm1_;
  nn::MultiHeadAttention& attention_;
  nn::Dropout& drop1_;
  nn::LayerNormalization& norm2_;
  nn::Dense &hidden_, &out_;
  nn::Dropout& drop2_;
};

/// [batch, places] -> [batch, places, vocabulary], float32 under any policy.
class Decoder : public nn::Module {
 public:
  explicit Decoder(const Options& o)
      : recompute_(o.recompute),
        characters_(add("characters", Table(o.vocabulary, o.width))),
        places_(add("places", Table(o.context, o.width))),
        blocks_(add("blocks", nn::ModuleList<Block>())),
        norm_(add("norm", nn::LayerNormalization())),
        head_(add("head", nn::Dense({.units = o.vocabulary}))) {
    for (int64_t i = 0; i < o.layers; ++i) blocks_.append(Block(o));
    head_.set_dtype_policy(nn::Policy("float32"));
  }

 private:
  distribute::Tensor call(const distribute::Tensor& tokens, nn::CallOptions options) override {
    auto x = characters_(tokens, options) +
             places_(distribute::range(int32_t(tokens.shape()[1])), options);
    for (Block& block : blocks_) {
      const auto again = [&block, options](const auto& in) { return block(in[0], options); };
      x = recompute_ ? distribute::recompute_grad(again, {x}) : block(x, options);
    }
    return head_(norm_(x, options), options);
  }

  const bool recompute_;
  Table &characters_, &places_;
  nn::ModuleList<Block>& blocks_;
  nn::LayerNormalization& norm_;
  nn::Dense& head_;
};

}  // namespace text_transformer
