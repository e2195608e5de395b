#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/detail/summary_table.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/optim/adam.hpp>

#include "support/catch.hpp"

#include <map>

using namespace distribute;

TEST_CASE("a sequence runs its layers in order under Keras names", "[nn][sequential]") {
  nn::Sequential model(nn::Conv2D({.filters = 4, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Conv2D({.filters = 2, .kernel_size = 1}), nn::Flatten(),
                       nn::Dense({.units = 10}));
  const Tensor y = model(ones({2, 8, 8, 1}), {.training = true});
  CHECK(y.shape() == Shape{2, 10});
  REQUIRE(model.size() == 5);
  CHECK(model[0].name() == "conv2d");
  CHECK(model[2].name() == "conv2d_1");
  const auto variables = model.variables();
  REQUIRE(variables.size() == 6);
  CHECK(variables[2].name() == "sequential/conv2d_1/kernel");
  CHECK(variables[4].name() == "sequential/dense/kernel");
  CHECK(variables[4].shape() == Shape{18, 10});
  CHECK(model.summary() == R"(Model: "sequential"
----------------------------------------------------------
 Layer (type)                   Output Shape      Param #
==========================================================
 conv2d (Conv2D)                (None, 6, 6, 4)        40
 max_pooling2d (MaxPooling2D)   (None, 3, 3, 4)         0
 conv2d_1 (Conv2D)              (None, 3, 3, 2)        10
 flatten (Flatten)              (None, 18)              0
 dense (Dense)                  (None, 10)            190
==========================================================
 Total params: 240 (960.00 B)
 Trainable params: 240 (960.00 B)
 Non-trainable params: 0 (0.00 B)
)");
}

namespace {
struct TwoLayers : nn::Module {
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    return second(first(x, options), options);
  }
  nn::Dense &first = add("first", nn::Dense({.units = 3})),
            &second = add("", nn::Dense({.units = 2}));
};
}  // namespace

TEST_CASE("a summary shows the class of your own module", "[nn][sequential]") {
  nn::clear_session();
  nn::Sequential model(TwoLayers(), nn::Dense({.units = 2}));
  model(ones({1, 4}));
  CHECK(model[0].name() == "two_layers");  // as in Keras
  CHECK(model.variables()[0].name() == "sequential/two_layers/first/kernel");
  CHECK_THAT(model.summary(), Contains(" (TwoLayers)   (None, 2)           23\n") &&
                                  Contains("first (Dense)") && Contains(" dense_1 (Dense) "));
}

// What keras.src.utils.naming.to_snake_case of Keras 3.15 gives.
TEST_CASE("the kind of a class is Keras's lower-case name", "[nn][sequential]") {
  for (const auto& [name, kind] :
       std::map<std::string, std::string>{{"MyBlock", "my_block"},
                                          {"Conv2DTranspose", "conv2d_transpose"},
                                          {"LSTM", "lstm"},
                                          {"RMSNormalization", "rms_normalization"},
                                          {"ResNet50V2", "res_net50v2"},
                                          {"A", "a"},
                                          {"MLPBlock", "mlp_block"},
                                          {"my_block", "my_block"},
                                          {"GRUCell", "gru_cell"},
                                          {"X2Y", "x2y"},
                                          {"HTTPServerA", "http_server_a"},
                                          {"Block1A", "block1a"}})
    CHECK(nn::nn_internal::kind_of_class(name) == kind);
}

TEST_CASE("names within a sequence must differ", "[nn][sequential]") {
  CHECK_THROWS_AS(nn::Sequential(nn::Flatten("a"), nn::Dense({.units = 1, .name = "a"})),
                  InvalidArgumentError);
  nn::Sequential model(nn::Dense({.units = 1, .name = "dense_1"}), nn::Dense({.units = 1}),
                       nn::Dense({.units = 1}));
  CHECK(model[1].name() == "dense");
  CHECK(model[2].name() == "dense_2");
  CHECK_THROWS_AS(model[0].set_name("x"), FailedPreconditionError);
}

TEST_CASE("sequences nest and grow", "[nn][sequential]") {
  nn::Sequential model;
  model.add(nn::Sequential(nn::Dense({.units = 2}), nn::Activation(nn::relu)));
  model.add(nn::Dense({.units = 1}));
  CHECK(model(ones({1, 3})).shape() == Shape{1, 1});
  CHECK(model.variables()[0].name() == "sequential/sequential_1/dense/kernel");
  CHECK(model.variables()[2].name() == "sequential/dense_1/kernel");
}

TEST_CASE("an empty sequence gives its input back", "[nn][sequential]") {
  nn::Sequential model;
  CHECK(model(Tensor{1.0f, 2.0f}).to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("a small network learns its batch by heart", "[nn][sequential]") {
  random::set_seed(2);
  nn::Sequential model(nn::Conv2D({.filters = 8, .kernel_size = 3, .activation = nn::relu}),
                       nn::MaxPool2D(), nn::Flatten(),
                       nn::Dense({.units = 16, .activation = nn::relu}), nn::Dense({.units = 4}));
  optim::Adam optimizer({.learning_rate = 0.01f});
  const Tensor x = random::normal({16, 8, 8, 1}, 1), y = random::uniform_int({16}, 2, 0, 4);
  float first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    GradientTape tape;
    const Tensor logits = model(x, {.training = true});
    const Tensor losses = nn::sparse_categorical_crossentropy(y, logits, {.from_logits = true});
    const Tensor loss = nn::compute_average_loss(losses, 16);
    optimizer.minimize(loss, model.trainable_variables(), tape);
    (step == 0 ? first : last) = loss.item<float>();
  }
  CHECK(first > 1.0f);
  CHECK(last < 0.05f);
}
