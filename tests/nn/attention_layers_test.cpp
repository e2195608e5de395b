// Numbers printed by Keras 3.15 with TensorFlow 2.21, all weights 0.7.
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include "support/catch.hpp"
#include "support/check_close.hpp"
#include "support/check_throws.hpp"

using namespace distribute;

namespace {

const Tensor q(Shape{1, 2, 2}, std::vector<float>{1, 0.5f, -1, 2});
const Tensor v(Shape{1, 3, 2}, std::vector<float>{0.5f, 1, 2, -1, 0, 3});
const Tensor k(Shape{1, 3, 2}, std::vector<float>{1, 1, 0.5f, 0, -1, 1});

nn::AttentionCall masks() {
  return {.query_mask = cast(Tensor(Shape{1, 2}, std::vector<float>{1, 0}), DType::Bool),
          .value_mask = cast(Tensor(Shape{1, 3}, std::vector<float>{1, 1, 0}), DType::Bool)};
}

struct Answers {
  std::vector<double> plain, with_key, masked, causal, scores;
};

void check_answers(nn::AttentionLayer& layer, const Answers& answers) {
  layer({q, v});
  for (const Variable& weight : layer.variables()) weight.assign(fill(weight.shape(), 0.7f));
  check_close(layer({q, v}), answers.plain, 2e-6);
  check_close(layer({q, v, k}), answers.with_key, 2e-6);
  const nn::AttentionResult masked = layer.attend({q, v, k}, masks());
  check_close(masked.output, answers.masked, 2e-6);
  check_close(masked.scores, answers.scores, 2e-6);
  check_close(layer.attend({q, v, k}, {.use_causal_mask = true}).output, answers.causal, 2e-6);
}

}  // namespace

TEST_CASE("Attention gives Keras's numbers", "[nn][attention]") {
  nn::Attention plain, scaled({.use_scale = true});
  check_answers(plain, {{0.8836517, 1.0, 0.005583, 2.9778473},
                        {0.8220774, 0.6906041, 0.1098746, 2.6641362},
                        {0.9034121, 0.4621171, 0, 0},
                        {0.5, 1.0, 0.7736383, 0.635149},
                        {0.7310585, 0.2689414, 0, 0.8175745, 0.1824255, 0}});
  check_answers(scaled, {{0.8697284, 1.0, 0.022275, 2.9143946},
                         {0.8565775, 0.7131817, 0.221988, 2.3710148},
                         {0.9977183, 0.3363755, 0, 0},
                         {0.5, 1.0, 0.8888376, 0.4815498},
                         {0.6681877, 0.3318122, 0, 0.7407749, 0.2592251, 0}});
}

TEST_CASE("Attention of sums gives Keras's numbers", "[nn][attention]") {
  nn::Attention scaled({.use_scale = true, .score_mode = nn::ScoreMode::Concat});
  nn::Attention plain({.score_mode = nn::ScoreMode::Concat});
  check_answers(scaled, {{0.607623, 1.3910595, 1.0449065, 0.6108214},
                         {0.839054, 0.8712426, 0.8713855, 0.8191297},
                         {1.1076415, 0.1898115, 0, 0},
                         {0.5, 1.0, 1.1401582, 0.1464557},
                         {0.5949058, 0.4050943, 0, 0.5732278, 0.4267721, 0}});
  check_answers(plain, {{0.5550948, 1.4686168, 1.179987, 0.3778135},
                        {0.8619509, 0.824222, 0.864174, 0.8206583},
                        {1.1195872, 0.1738837, 0, 0},
                        {0.5, 1.0, 1.12182, 0.1709068},
                        {0.5869418, 0.4130581, 0, 0.5854534, 0.4145466, 0}});
}

TEST_CASE("AdditiveAttention gives Keras's numbers", "[nn][attention]") {
  nn::AdditiveAttention scaled, plain({.use_scale = false});
  check_answers(scaled, {{0.5550947, 1.4686168, 1.179987, 0.3778135},
                         {0.8619508, 0.8242221, 0.864174, 0.8206583},
                         {1.1195872, 0.1738837, 0, 0},
                         {0.5, 1.0, 1.12182, 0.1709068},
                         {0.5869418, 0.4130582, 0, 0.5854534, 0.4145466, 0}});
  check_answers(plain, {{0.4743412, 1.6027873, 1.3261635, 0.1222813},
                        {0.8610877, 0.7744843, 0.864135, 0.7697362},
                        {1.0656377, 0.2458164, 0, 0},
                        {0.5, 1.0, 1.0687296, 0.2416938},
                        {0.6229082, 0.3770918, 0, 0.6208469, 0.3791531, 0}});
  CHECK(scaled.variables()[0].shape() == Shape{2});
}

TEST_CASE("attention takes the masks of its tensors, and gives the query's on", "[nn][attention]") {
  nn::Embedding embedding({.input_dim = 5, .output_dim = 2, .mask_zero = true});
  const Tensor x = embedding(Tensor(Shape{1, 3}, std::vector<int64_t>{1, 2, 0}));
  nn::Attention attention;
  const Tensor y = attention({x, x}), same = attention.attend({x, x}).output;
  const std::vector<float> values = y.to_vector(), wanted = same.to_vector();
  CHECK(values == wanted);
  CHECK(std::vector<float>(values.end() - 2, values.end()) == std::vector<float>{0, 0});
  REQUIRE(nn::get_keras_mask(y));
  CHECK(nn::get_keras_mask(y).to_vector() == std::vector<float>{1, 1, 0});
}

TEST_CASE("attention refuses other inputs and a dropout of 1", "[nn][attention]") {
  nn::Attention attention;
  check_throws<InvalidArgumentError>([&] { attention(q); },
                                     "Attention layer accepts inputs list of length 2 or 3");
  check_throws<InvalidArgumentError>([&] { attention({q, v, k, k}); }, "Received length: 4.");
  check_throws<InvalidArgumentError>([] { nn::AdditiveAttention({.dropout = 1}); },
                                     "dropout must be in [0, 1), got 1");
}

TEST_CASE("attention drops probabilities in training", "[nn][attention]") {
  nn::Attention attention({.dropout = 0.5, .seed = 3});
  const auto scores = attention.attend({q, v}, {.training = true}).scores.to_vector();
  const auto full = attention.attend({q, v}).scores.to_vector();
  int dropped = 0;
  for (size_t i = 0; i < full.size(); ++i) {
    dropped += scores[i] == 0.0f;
    CHECK((scores[i] == 0.0f || std::abs(scores[i] - 2 * full[i]) < 1e-6f));
  }
  CHECK((dropped > 0 && dropped < 6));
}
