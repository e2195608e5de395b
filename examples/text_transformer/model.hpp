#pragma once
/// The network of this example: characters -> logits of the next one at every place.

#include "flags.hpp"

#include <distribute/distribute.hpp>
#include <distribute/language_models.hpp>

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
        attention_(add("attention", nn::GroupQueryAttention({.head_dim = o.width / o.heads,
                                                             .num_query_heads = o.heads,
                                                             .num_key_value_heads = o.heads}))),
        drop1_(add("drop1", nn::Dropout(o.dropout))),
        norm2_(add("norm2", nn::LayerNormalization())),
        hidden_(add("hidden", nn::Dense({.units = 4 * o.width, .activation = nn::gelu}))),
        out_(add("out", nn::Dense({.units = o.width}))),
        drop2_(add("drop2", nn::Dropout(o.dropout))) {}

  distribute::Tensor run(const distribute::Tensor& x, const nn::AttentionStep& step,
                         nn::CallOptions options) {
    const auto y = x + drop1_(attention_.attend(norm1_(x, options), step), options);
    return y + drop2_(out_(hidden_(norm2_(y, options), options), options), options);
  }

 private:
  distribute::Tensor call(const distribute::Tensor&, nn::CallOptions) override {
    throw distribute::UnimplementedError("a block is called by the decoder");
  }

  nn::LayerNormalization& norm1_;
  nn::GroupQueryAttention& attention_;
  nn::Dropout& drop1_;
  nn::LayerNormalization& norm2_;
  nn::Dense &hidden_, &out_;
  nn::Dropout& drop2_;
};

/// [batch, places] -> [batch, places, vocabulary], float32 under any policy. It can go on with the
/// characters that it has seen, which samples do.
class Decoder : public nn::applications::CausalLM {
 public:
  explicit Decoder(const Options& o)
      : CausalLM(""),
        vocabulary_(o.vocabulary),
        context_(o.context),
        recompute_(o.recompute),
        characters_(add("characters", Table(o.vocabulary, o.width))),
        places_(add("places", Table(o.context, o.width))),
        blocks_(add("blocks", nn::ModuleList<Block>())),
        norm_(add("norm", nn::LayerNormalization())),
        head_(add("head", nn::Dense({.units = o.vocabulary}))) {
    for (int64_t i = 0; i < o.layers; ++i) blocks_.append(Block(o));
    head_.set_dtype_policy(nn::Policy("float32"));
  }

  int64_t vocabulary_size() const override { return vocabulary_; }
  int64_t max_sequence_length() const override { return context_; }

 private:
  distribute::Tensor features(const distribute::Tensor& tokens, const nn::AttentionStep& step,
                              nn::applications::KeyValueCache* cache,
                              nn::CallOptions options) override {
    auto x = characters_(tokens, options) + places_(step.positions, options);
    x = through_blocks(
        x, blocks_.size(), step, cache, recompute_,
        [this, options](size_t i, const distribute::Tensor& in, const nn::AttentionStep& own) {
          return blocks_[i].run(in, own, options);
        });
    return norm_(x, options);
  }
  distribute::Tensor logits(const distribute::Tensor& features, nn::CallOptions options) override {
    return head_(features, options);
  }

  const int64_t vocabulary_, context_;
  const bool recompute_;
  Table &characters_, &places_;
  nn::ModuleList<Block>& blocks_;
  nn::LayerNormalization& norm_;
  nn::Dense& head_;
};

}  // namespace text_transformer
