#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/embedding.hpp>

#include "support/catch.hpp"

using namespace distribute;

TEST_CASE("an embedding looks rows up and has a sparse gradient", "[nn][embedding]") {
  nn::Embedding layer({.input_dim = 4, .output_dim = 2, .name = "words"});
  const Tensor ids({2, 1}, std::vector<int64_t>{3, 1});
  layer.ensure_built(ids.shape());
  CHECK(layer.embeddings().name() == "words/embeddings");
  layer.embeddings().assign(Tensor({4, 2}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  GradientTape tape;
  const Tensor y = layer(ids);
  CHECK(y.shape() == Shape{2, 1, 2});
  CHECK(y.to_vector() == std::vector<float>{6, 7, 2, 3});
  const Tensor gradient = tape.gradient(y, layer.embeddings());
  CHECK(is_indexed_slices(gradient));
  CHECK(gradient.to_vector() == std::vector<float>{0, 0, 1, 1, 0, 0, 1, 1});
}

TEST_CASE("an embedding refuses what is not in its table", "[nn][embedding]") {
  CHECK_THROWS_AS(nn::Embedding({.input_dim = 4}), InvalidArgumentError);
  nn::Embedding layer({.input_dim = 4, .output_dim = 2});
  CHECK_THROWS_AS(layer(Tensor{int64_t{4}}), InvalidArgumentError);
}

TEST_CASE("embeddings start small and uniform", "[nn][embedding]") {
  nn::Embedding layer({.input_dim = 100, .output_dim = 10});
  layer.ensure_built({1});
  for (const float v : layer.embeddings().value().to_vector()) CHECK(std::abs(v) <= 0.05f);
}
