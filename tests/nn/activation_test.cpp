#include <distribute/nn/activation.hpp>
#include <distribute/nn/reshaping.hpp>

#include "support/catch.hpp"

using namespace distribute;

TEST_CASE("an activation layer applies its function", "[nn][activation]") {
  const Tensor x{-1.0f, 2.0f};
  CHECK(nn::Activation(nn::relu)(x).to_vector() == std::vector<float>{0, 2});
  CHECK(nn::Activation(nullptr)(x).to_vector() == std::vector<float>{-1, 2});
  CHECK(nn::Activation(nn::relu, "act").name() == "act");
}

TEST_CASE("only relu is fused", "[nn][activation]") {
  CHECK(nn::nn_internal::epilogue_of(nn::relu) == Epilogue::Relu);
  CHECK(nn::nn_internal::epilogue_of(nn::tanh) == Epilogue::None);
  CHECK(nn::nn_internal::epilogue_of(nullptr) == Epilogue::None);
}

TEST_CASE("flatten keeps the batch", "[nn][flatten]") {
  CHECK(nn::Flatten()(ones({2, 3, 4, 5})).shape() == Shape{2, 60});
}
