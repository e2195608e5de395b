#pragma once
/// The networks of the cases of sequences and generators, written as a user would.

#include <distribute/distribute.hpp>

#include <memory>
#include <string>

namespace parity {

namespace nn = distribute::nn;
using distribute::Shape;
using distribute::Tensor;

/// Learned positions, added to embeddings [batch, length, dim].
class AddPositions : public nn::Module {
 public:
  AddPositions(int64_t length, int64_t dim) : length_(length), dim_(dim) {}

 private:
  Tensor call(const Tensor& x, nn::CallOptions) override { return x + embeddings_.value(); }
  void build(const Shape&) override {
    embeddings_ = add_weight("embeddings", {length_, dim_}, nn::initializers::random_uniform());
  }
  int64_t length_, dim_;
  distribute::Variable embeddings_;
};

struct TransformerSizes {
  int64_t vocabulary, length, dim, heads, hidden;
};

/// The layers of a block, named after it; how they are put together differs.
struct TransformerBlock {
  nn::LayerNormalization &norm1, &norm2;
  nn::MultiHeadAttention& attention;
  nn::Dense &hidden, &out;
};

class Transformer : public nn::Module {
 protected:
  Transformer(const TransformerSizes& sizes, double epsilon, bool causal, bool mask_zero)
      : sizes_(sizes), epsilon_(epsilon), causal_(causal), mask_zero_(mask_zero) {
    set_name_in_path(false);  // names as in the case's weights
    for (const char* name : {"block0", "block1"}) blocks_.push_back(block(name));
  }

 private:
  TransformerBlock block(const std::string& name) {
    const auto norm = [&](const char* part) -> nn::LayerNormalization& {
      return add(name + part, nn::LayerNormalization({.epsilon = epsilon_}));
    };
    auto& norm1 = norm("_ln1");
    auto& norm2 = norm("_ln2");
    return {norm1, norm2,
            add(name + "_attn", nn::MultiHeadAttention({.num_heads = sizes_.heads,
                                                        .key_dim = sizes_.dim / sizes_.heads,
                                                        .use_causal_mask = causal_})),
            add(name + "_mlp1", nn::Dense({.units = sizes_.hidden, .activation = nn::gelu})),
            add(name + "_mlp2", nn::Dense({.units = sizes_.dim}))};
  }

 protected:
  TransformerSizes sizes_;
  double epsilon_;
  bool causal_, mask_zero_;
  nn::Embedding& tok_ = add("tok", nn::Embedding({.input_dim = sizes_.vocabulary,
                                                  .output_dim = sizes_.dim,
                                                  .mask_zero = mask_zero_}));
  AddPositions& pos_ = add("pos", AddPositions(sizes_.length, sizes_.dim));
  std::vector<TransformerBlock> blocks_;
};

/// Predicts the next character at every place.
class DecoderOnly : public Transformer {
 public:
  DecoderOnly() : Transformer({63, 64, 64, 4, 256}, 1e-3, true, false) {}

 private:
  Tensor call(const Tensor& tokens, nn::CallOptions options) override {
    Tensor x = pos_(tok_(tokens, options), options);
    for (const TransformerBlock& b : blocks_) {
      x = x + b.attention(b.norm1(x, options), options);
      x = x + b.out(b.hidden(b.norm2(x, options), options), options);
    }
    return head_(norm_(x, options), options);
  }
  nn::LayerNormalization& norm_ = add("ln_final", nn::LayerNormalization({.epsilon = epsilon_}));
  nn::Dense& head_ = add("head", nn::Dense({.units = sizes_.vocabulary}));
};

/// Says which of 8 books a padded line is from.
class Encoder : public Transformer {
 public:
  Encoder() : Transformer({64, 112, 48, 4, 96}, 1e-6, false, true) {}

 private:
  Tensor call(const Tensor& tokens, nn::CallOptions options) override {
    const auto [embedded, mask] = tok_.call_with_mask(tokens, options);
    options.mask = mask;
    Tensor x = pos_(embedded, options);
    for (const TransformerBlock& b : blocks_) {
      x = b.norm1(x + b.attention(x, options), options);
      x = b.norm2(x + b.out(b.hidden(x, options), options), options);
    }
    return classes_(pool_(x, options));
  }
  nn::GlobalAveragePooling1D& pool_ = add("pool", nn::GlobalAveragePooling1D());
  nn::Dense& classes_ = add("fc", nn::Dense({.units = 8}));
};

inline nn::Sequential lstm_network() {
  nn::Sequential network(nn::LSTM({.units = 48, .name = "lstm"}),
                         nn::Dense({.units = 10, .name = "fc"}));
  network.set_name_in_path(false);
  return network;
}

inline nn::Sequential gru_network() {
  nn::Sequential network(
      nn::Masking(),
      nn::Bidirectional(nn::GRU({.units = 24, .return_sequences = true, .name = "gru1"}),
                        {.name = "bi"}),
      nn::GRU({.units = 32, .name = "gru2"}), nn::Dense({.units = 10, .name = "fc"}));
  network.set_name_in_path(false);
  return network;
}

inline nn::Sequential generator(bool synchronized) {
  const auto norm = [=](const char* name) {
    return nn::BatchNormalization({.momentum = 0.9, .synchronized = synchronized, .name = name});
  };
  const auto grow = [](const char* name, int64_t filters, int64_t kernel, int64_t stride) {
    return nn::Conv2DTranspose({.filters = filters,
                                .kernel_size = kernel,
                                .strides = stride,
                                .padding = nn::Padding::Same,
                                .use_bias = false,
                                .name = name});
  };
  nn::Sequential network(nn::Dense({.units = 1176, .use_bias = false, .name = "dense1"}),
                         norm("bn1"), nn::LeakyReLU({.negative_slope = 0.2}),
                         nn::Reshape({7, 7, 24}), grow("convt1", 24, 5, 1), norm("bn2"),
                         nn::LeakyReLU({.negative_slope = 0.2}), grow("convt2", 12, 5, 2),
                         norm("bn3"), nn::LeakyReLU({.negative_slope = 0.2}),
                         nn::Conv2DTranspose({.filters = 1,
                                              .kernel_size = 4,
                                              .strides = 2,
                                              .padding = nn::Padding::Same,
                                              .activation = nn::tanh,
                                              .name = "convt3"}));
  network.set_name("generator");
  return network;
}

inline nn::Sequential discriminator() {
  const auto conv = [](const char* name, int64_t filters) {
    return nn::Conv2D({.filters = filters,
                       .kernel_size = 5,
                       .strides = 2,
                       .padding = nn::Padding::Same,
                       .name = name});
  };
  nn::Sequential network(conv("conv1", 12), nn::LeakyReLU({.negative_slope = 0.2}),
                         conv("conv2", 24), nn::LeakyReLU({.negative_slope = 0.2}), nn::Flatten(),
                         nn::Dense({.units = 1, .name = "logit"}));
  network.set_name("discriminator");
  return network;
}

}  // namespace parity
