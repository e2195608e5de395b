#include <distribute/nn/activation.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/initializers.hpp>
#include <distribute/nn/reshaping.hpp>

#include "support/catch.hpp"
#include "support/check_throws.hpp"

using namespace distribute;

TEST_CASE("an activation layer applies its function", "[nn][activation]") {
  const Tensor x{-1.0f, 2.0f};
  CHECK(nn::Activation(nn::relu)(x).to_vector() == std::vector<float>{0, 2});
  CHECK(nn::Activation(nullptr)(x).to_vector() == std::vector<float>{-1, 2});
  CHECK(nn::Activation(nn::relu, "act").name() == "act");
}

TEST_CASE("activations and initializers have Keras's names", "[nn][activation][initializers]") {
  const Tensor x({1, 2}, std::vector<float>{-1, 2});
  CHECK(nn::Activation("relu")(x).to_vector() == std::vector<float>{0, 2});
  CHECK(nn::Activation("swish").function() == nn::ActivationFunction("silu"));
  CHECK(nn::ActivationFunction("leaky_relu") == nn::ActivationFunction(nn::leaky_relu));
  CHECK(nn::ActivationFunction("softmax") == nn::activations::get("softmax"));
  CHECK(nn::Activation("sparsemax")(x).to_vector() == std::vector<float>{0, 1});
  CHECK(nn::Dense({.units = 2, .activation = "glu"})(x).shape() == Shape{1, 1});
  CHECK(nn::activations::get("linear")(x).to_vector() == x.to_vector());
  check_throws<InvalidArgumentError>([] { nn::activations::get("rellu"); },
                                     "there is no activation \"rellu\", but linear, relu, relu6");
  nn::Dense layer({.units = 2,
                   .activation = "relu",
                   .kernel_initializer = "identity",
                   .bias_initializer = "ones"});
  CHECK(layer(x).to_vector() == std::vector<float>{0, 3});
  nn::Dense plain({.units = 2,
                   .activation = [](const Tensor& y) { return 2 * y; },
                   .kernel_initializer = "Identity"});
  CHECK(plain(x).to_vector() == std::vector<float>{-2, 4});
}

TEST_CASE("an initializer's name has Keras's default numbers", "[nn][initializers]") {
  const Shape shape{40, 30};
  const auto same = [&](const nn::Initializer& a, const nn::Initializer& b) {
    return a(shape, 7).to_vector() == b(shape, 7).to_vector();
  };
  namespace initializers = nn::initializers;
  CHECK(same("glorot_uniform", initializers::glorot_uniform()));
  CHECK(same("HeNormal", initializers::he_normal()));
  CHECK(same("normal", initializers::random_normal()));
  CHECK(same("uniform", initializers::random_uniform()));
  CHECK(same("variance_scaling", initializers::variance_scaling({})));
  CHECK(same("orthogonal", initializers::orthogonal()));
  CHECK(same("constant", initializers::zeros()));
  CHECK(!same("he_normal", "he_uniform"));
  check_throws<InvalidArgumentError>([] { nn::Initializer bad("he"); },
                                     "there is no initializer \"he\", but zeros, zero, ones");
}

TEST_CASE("only relu is fused", "[nn][activation]") {
  CHECK(nn::nn_internal::epilogue_of(nn::relu) == Epilogue::Relu);
  CHECK(nn::nn_internal::epilogue_of(nn::tanh) == Epilogue::None);
  CHECK(nn::nn_internal::epilogue_of(nullptr) == Epilogue::None);
}

TEST_CASE("flatten keeps the batch", "[nn][flatten]") {
  CHECK(nn::Flatten()(ones({2, 3, 4, 5})).shape() == Shape{2, 60});
}
