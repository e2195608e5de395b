#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
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
