#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

namespace {

Tensor blank_steps(const Tensor& x) { return x * expand_dims(cast(gaps(), DType::Float32), -1); }
std::vector<nn::Module*> parts(nn::Sequential& network) {
  network.set_name_in_path(false);
  std::vector<nn::Module*> all;
  for (size_t i = 0; i < network.size(); ++i) all.push_back(&network[i]);
  return all;
}

}  // namespace

TEST_CASE("masks flow through a sequence of layers", "[nn][masking]") {
  nn::Sequential recurrent(
      nn::Masking({.name = "a"}),
      nn::Bidirectional(nn::GRU({.units = 2, .return_sequences = true, .name = "inner"}),
                        {.name = "b"}),
      nn::LSTM({.units = 2, .name = "c"}));
  check("masking_flows", parts(recurrent),
        [&](const auto& in) { return recurrent(blank_steps(in[0])); });
  nn::Sequential pooled(nn::Masking({.name = "a"}), nn::GlobalAveragePooling1D({.name = "b"}));
  check("masking_pooled", parts(pooled),
        [&](const auto& in) { return pooled(blank_steps(in[0])); });
}

TEST_CASE("an embedding's zeros are a mask", "[nn][masking]") {
  nn::Sequential network(
      nn::Embedding({.input_dim = 4, .output_dim = 3, .mask_zero = true, .name = "a"}),
      nn::GRU({.units = 2, .return_sequences = true, .name = "b"}),
      nn::GlobalAveragePooling1D({.name = "c"}));
  const Tensor ids({2, 3}, std::vector<int32_t>{2, 0, 1, 3, 3, 0});
  check("embedding_flows", parts(network), [&](const auto&) { return network(ids); });
}

TEST_CASE("a mask passes nested sequences and ends where steps do", "[nn][masking]") {
  nn::Sequential inner(nn::Masking({}), nn::LSTM({.units = 2, .return_sequences = true}));
  nn::Sequential outer(std::move(inner));
  const auto sequences = outer.call_with_mask(blank_steps(uniform({3, 4, 5}, 1)));
  REQUIRE(sequences.mask);
  CHECK(sequences.mask.to_vector() == gaps().to_vector());
  nn::Dense same({.units = 2});
  CHECK(same.call_with_mask(sequences.value, {.mask = sequences.mask}).mask);
  nn::Conv1D other({.filters = 2});
  CHECK_FALSE(other.call_with_mask(sequences.value, {.mask = sequences.mask}).mask);
  nn::LSTM last({.units = 2});
  CHECK_FALSE(last.call_with_mask(sequences.value, {.mask = sequences.mask}).mask);
}

namespace {

/// Hands its options on to a layer that keeps the steps and to one that changes them.
class OptionsPassed : public nn::Module {
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    return dense_(pool_(x, options), options);
  }
  nn::GlobalAveragePooling1D& pool_ = add("pool", nn::GlobalAveragePooling1D({}));
  nn::Dense& dense_ = add("dense", nn::Dense({.units = 5}));
};

}  // namespace

TEST_CASE("the result of a module has its mask, what is made of it has none", "[nn][masking]") {
  const Tensor x = blank_steps(uniform({3, 4, 5}, 1)), y = nn::Masking()(x);
  REQUIRE(nn::get_keras_mask(y));
  CHECK(nn::get_keras_mask(y).to_vector() == gaps().to_vector());
  CHECK_FALSE(nn::get_keras_mask(x));
  CHECK_FALSE(nn::get_keras_mask(y * 2.0f));
  CHECK_FALSE(nn::get_keras_mask(Tensor()));
  // A layer takes it from there: as if it were given.
  nn::LSTM lstm({.units = 2});
  CHECK(lstm(y).to_vector() == lstm(x, {.mask = gaps()}).to_vector());
  CHECK(lstm.call_with_states(y).output.to_vector() == lstm(y).to_vector());
  CHECK(lstm(y).to_vector() != lstm(x).to_vector());
}

TEST_CASE("a mask that is given is the result's and not the input's", "[nn][masking]") {
  const Tensor x = uniform({3, 4, 5}, 1);
  const Tensor y = nn::Dropout(0.5)(x, {.mask = gaps()});  // outside of training x itself
  CHECK(nn::get_keras_mask(y).to_vector() == gaps().to_vector());
  CHECK_FALSE(nn::get_keras_mask(x));
  CHECK(y.to_vector() == x.to_vector());
}

TEST_CASE("a mask of other steps than the result's is none", "[nn][masking]") {
  // [3, 5] from a mask [3, 4] that the module has handed on with its options.
  CHECK_FALSE(nn::get_keras_mask(OptionsPassed()(uniform({3, 4, 5}, 1), {.mask = gaps()})));
}

TEST_CASE("a mask outlives a cast to the policy's dtype", "[nn][masking]") {
  const Tensor x = nn::Masking()(blank_steps(uniform({3, 4, 5}, 1)));
  nn::Sequential half(nn::Dense({.units = 2}));
  half.set_dtype_policy(nn::Policy("mixed_bfloat16"));
  const Tensor y = half(x);
  CHECK(y.dtype() == DType::BFloat16);
  REQUIRE(nn::get_keras_mask(y));
  CHECK(nn::get_keras_mask(y).to_vector() == gaps().to_vector());
}
