// What Keras gives is in ctc_cases.hpp, which tests/comparison/ctc_cases.py wrote.
#include <distribute/ops/sequence.hpp>

#include <distribute/nn/dense.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"
#include "ctc_cases.hpp"

#include <algorithm>
#include <cmath>

using namespace distribute;

namespace {

Tensor logits(int64_t batch, int64_t steps, int64_t classes, int64_t seed, float spread) {
  std::vector<float> values(size_t(batch * steps * classes));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(1.5 * std::sin(12.9898 * double(i) + 78.233 * double(seed))) * spread;
  return Tensor({batch, steps, classes}, values);
}

void check_near(const std::vector<float>& got, const std::vector<double>& wanted, double most) {
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << got[i] << " for " << wanted[i]);
    CHECK(std::abs(got[i] - wanted[i]) <= most * std::max(1.0, std::abs(wanted[i])));
  }
}

}  // namespace

TEST_CASE("ctc_loss and its gradient are Keras's", "[ops][ctc]") {
  for (const ctc_cases::LossCase& c : ctc_cases::kLosses) {
    INFO(c.name);
    const Tensor x = logits(2, c.steps, 4, c.seed, c.spread);
    WatchingTape tape({x});
    const Tensor loss =
        nn::ctc_loss(Tensor({2, c.labels}, c.target), x, Tensor({2}, c.target_length),
                     Tensor({2}, c.output_length), c.mask_index);
    CHECK(loss.dtype() == DType::Float32);
    check_near(loss.to_vector(), c.loss, 2e-6);
    const Tensor total = reduce_sum(loss * Tensor{1.0f, 2.0f});
    if (!c.gradient.empty()) check_near(tape.gradient(total, x).to_vector(), c.gradient, 2e-5);
  }
}

TEST_CASE("ctc_loss sums over the paths of a small case", "[ops][ctc]") {
  // Two steps, label "1": paths 11, 01 and 10 of nine with equal probabilities.
  const Tensor x = zeros({1, 2, 3}), one(Shape{1}, std::vector<int32_t>{1});
  const Tensor two(Shape{1}, std::vector<int32_t>{2}), label({1, 1}, std::vector<int32_t>{1});
  check_close(nn::ctc_loss(label, x, one, two), {std::log(3.0)});
}

TEST_CASE("ctc_loss has a gradient in each kind of case", "[ops][ctc]") {
  const Tensor labels({2, 3}, std::vector<int64_t>{1, 2, 2, 3, 0, 0});
  const Tensor label_lengths{int64_t{3}, int64_t{1}}, lengths{int64_t{6}, int64_t{4}};
  check_gradient([=](auto& in) { return nn::ctc_loss(labels, in[0], label_lengths, lengths); },
                 {test_tensor({2, 6, 4}, 3, -2, 2)});
  const Tensor all{int64_t{3}, int64_t{3}}, few{int64_t{2}, int64_t{2}};
  const Tensor long_labels({2, 3}, std::vector<int64_t>{1, 2, 3, 1, 1, 1});
  const Tensor x = test_tensor({2, 3, 4}, 4, -2, 2);
  const auto loss = [&](const Tensor& at) {  // about 707
    return nn::ctc_loss(long_labels, at, all, few);
  };
  WatchingTape tape({x});
  const std::vector<float> g = tape.gradient(reduce_sum(loss(x)), x).to_vector();
  for (size_t i = 0; i < g.size(); ++i) {
    std::vector<float> step(g.size());
    step[i] = 0.05f;
    const Tensor there = Tensor(x.shape(), step);
    const auto up = loss(x + there).to_vector(), down = loss(x - there).to_vector();
    CHECK(g[i] == Approx((up[0] - down[0] + up[1] - down[1]) / 0.1f).margin(4e-3));
  }
}

TEST_CASE("ctc_loss takes 16-bit logits and gives float32, as Keras", "[ops][ctc]") {
  const Tensor label({1, 2}, std::vector<int32_t>{1, 2}), x = logits(1, 5, 4, 0, 1);
  const Tensor two(Shape{1}, std::vector<int32_t>{2}), five(Shape{1}, std::vector<int32_t>{5});
  for (DType dtype : {DType::Float16, DType::BFloat16}) {
    const Tensor narrow = cast(x, dtype);
    WatchingTape tape({narrow});
    const Tensor loss = nn::ctc_loss(label, narrow, two, five);
    CHECK(loss.dtype() == DType::Float32);
    CHECK(loss.item<float>() ==
          nn::ctc_loss(label, cast(narrow, DType::Float32), two, five).item<float>());
    CHECK(tape.gradient(reduce_sum(loss), narrow).dtype() == dtype);
  }
}

TEST_CASE("ctc_loss refuses what TensorFlow computes silently", "[ops][ctc]") {
  const Tensor x = logits(1, 5, 4, 0, 1), two(Shape{1}, std::vector<int32_t>{2});
  const Tensor five(Shape{1}, std::vector<int32_t>{5}), label({1, 2}, std::vector<int32_t>{1, 2});
  const auto labels = [](int32_t a, int32_t b) { return Tensor({1, 2}, std::vector{a, b}); };
  const auto length = [](int32_t n) { return Tensor(Shape{1}, std::vector{n}); };
  CHECK_THROWS_WITH(
      nn::ctc_loss(labels(1, 7), x, two, five),
      "ctc_loss: label 7 at [0, 1] is no class; there are 4 classes with the blank, 0");
  CHECK_THROWS_WITH(
      nn::ctc_loss(labels(0, 1), x, two, five),
      "ctc_loss: label 0 at [0, 0] is the blank; there are 4 classes with the blank, 0");
  CHECK_THROWS_WITH(nn::ctc_loss(labels(1, -1), x, two, five), Contains("label -1"));
  CHECK_NOTHROW(nn::ctc_loss(labels(1, -1), x, length(1), five));  // beyond the length
  CHECK_THROWS_WITH(nn::ctc_loss(label, x, length(3), five),
                    "ctc_loss: lengths of labels[0] is 3, outside of [0, 2]");
  CHECK_THROWS_WITH(nn::ctc_loss(label, x, length(-1), five), Contains("is -1"));
  CHECK_THROWS_WITH(nn::ctc_loss(label, x, two, length(9)),
                    "ctc_loss: lengths of sequences[0] is 9, outside of [0, 5]");
  CHECK_THROWS_WITH(nn::ctc_loss(label, x, two, five, 4),
                    "ctc_loss: mask_index 4 is none of the 4 classes");
  CHECK_THROWS_WITH(nn::ctc_loss(label, logits(2, 5, 4, 0, 1), two, five), Contains("[2]"));
  CHECK_THROWS_AS(nn::ctc_loss(label, reshape(x, {5, 4}), two, five), InvalidArgumentError);
  CHECK_THROWS_AS(nn::ctc_loss(cast(label, DType::Float32), x, two, five), InvalidArgumentError);
}

TEST_CASE("ctc_decode gives Keras's labels and scores", "[ops][ctc]") {
  for (const ctc_cases::DecodeCase& c : ctc_cases::kDecodes) {
    INFO(c.name);
    nn::CtcDecodeOptions options{.merge_repeated = c.merge_repeated, .mask_index = c.mask_index};
    if (c.beam_width > 0) {
      options.strategy = nn::CtcStrategy::BeamSearch;
      options.beam_width = c.beam_width;
      options.top_paths = c.top_paths;
    }
    const auto [decoded, scores] =
        nn::ctc_decode(logits(2, 7, 4, c.seed, c.spread), Tensor({2}, c.lengths), options);
    CHECK(decoded.shape() == Shape{c.top_paths, 2, 7});
    CHECK(decoded.dtype() == DType::Int32);
    CHECK(scores.shape() == Shape{2, c.top_paths});
    check_near(decoded.to_vector(), c.decoded, 0);
    check_near(scores.to_vector(), c.scores, 2e-6);
  }
}

TEST_CASE("beam search with room for all beginnings finds all labels with their probabilities",
          "[ops][ctc]") {
  const Tensor x = logits(1, 4, 3, 5, 1), four(Shape{1}, std::vector<int32_t>{4});
  const auto [decoded, scores] = nn::ctc_decode(
      x, four, {.strategy = nn::CtcStrategy::BeamSearch, .beam_width = 1000, .top_paths = 15});
  double all = 0;
  for (int64_t p = 0; p < 15; ++p) {  // each score is minus the loss of its labels
    std::vector<int32_t> labels;
    for (int64_t t = 0; t < 4; ++t)
      if (const int32_t label = decoded.data<int32_t>()[size_t(p * 4 + t)]; label >= 0)
        labels.push_back(label);
    const int64_t count = int64_t(labels.size());
    const Tensor loss =
        nn::ctc_loss(Tensor({1, count}, labels), x, Tensor(Shape{1}, std::vector{count}), four);
    CHECK(-loss.item<float>() == Approx(scores.data<float>()[size_t(p)]).epsilon(1e-5));
    if (p > 0) CHECK(scores.data<float>()[size_t(p)] <= scores.data<float>()[size_t(p - 1)]);
    all += std::exp(scores.data<float>()[size_t(p)]);
  }
  CHECK(all == Approx(1));  // "", 2 of one label, ..., at most 4 of labels that differ
}

TEST_CASE("ctc_decode refuses what its strategy cannot do", "[ops][ctc]") {
  const Tensor x = logits(1, 5, 4, 0, 1), five(Shape{1}, std::vector<int32_t>{5});
  const auto beam = nn::CtcStrategy::BeamSearch;
  CHECK_THROWS_WITH(nn::ctc_decode(x, five, {.top_paths = 2}), Contains("BeamSearch finds more"));
  CHECK_THROWS_WITH(nn::ctc_decode(x, five, {.strategy = beam, .merge_repeated = false}),
                    Contains("option of Greedy"));
  CHECK_THROWS_WITH(nn::ctc_decode(x, five, {.strategy = beam, .beam_width = 2, .top_paths = 3}),
                    "ctc_decode: top_paths is 3, outside of [1, 2], the beam_width");
  CHECK_THROWS_WITH(nn::ctc_decode(x, five, {.strategy = beam, .beam_width = 0}),
                    Contains("top_paths"));
  const Tensor none(Shape{1}, std::vector<int32_t>{0}), six(Shape{1}, std::vector<int32_t>{6});
  CHECK_THROWS_WITH(
      nn::ctc_decode(x, none, {.strategy = beam, .top_paths = 2}),
      "ctc_decode: example 0 has 1 sequences of labels, fewer than the 2 of top_paths");
  CHECK_THROWS_WITH(nn::ctc_decode(x, six), Contains("is 6, outside of [0, 5]"));
}

TEST_CASE("losses::CTC is Keras's", "[ops][ctc]") {
  const Tensor x = logits(2, 5, 4, 0, 1), y({2, 3}, std::vector<int32_t>{1, 2, 0, 2, 2, 1});
  for (const Tensor& targets : {y, cast(y, DType::Float32), cast(y, DType::Int64)}) {
    check_near(losses::ctc(targets, x).to_vector(), ctc_cases::kEach, 2e-6);
    CHECK(losses::CTC()(targets, x).item<float>() == Approx(ctc_cases::kMean));
  }
  CHECK(losses::CTC({.reduction = nn::Reduction::Sum})(y, x, Tensor{1.0f, 0.0f}).item<float>() ==
        Approx(ctc_cases::kEach[0]));
  // Keras takes the 0 for a label: 2 labels, 1 and 0.
  CHECK_THROWS_WITH(
      losses::ctc(Tensor({1, 3}, std::vector<int32_t>{1, 0, 2}), logits(1, 5, 4, 0, 1)),
      Contains("label 0 at [0, 1] is the blank"));
  CHECK_THROWS_WITH(losses::ctc(Tensor{1, 2}, x), Contains("y_true.shape=[2]"));
  CHECK_THROWS_WITH(losses::ctc(y, reshape(x, {10, 4})), Contains("y_pred.shape=[10, 4]"));
}

namespace {

struct Spoken {
  Tensor x, y;  // [examples, 14, 4] and [examples, 3]
};

/// Three labels of 1, 2 and 3, each heard in one to three steps, with one or two quiet ones
/// between.
Spoken spoken(int64_t examples, uint64_t seed) {
  std::vector<float> x(size_t(examples * 14 * 4));
  std::vector<int32_t> y;
  const auto draws = random::uniform_int({examples, 3, 3}, seed, 0, 3);
  const auto numbers = draws.data<int64_t>();
  for (int64_t i = 0, at = 0; i < examples; ++i) {
    int64_t step = 0;
    for (int k = 0; k < 3; ++k) {
      const int64_t label = numbers[size_t(at++)] + 1, heard = numbers[size_t(at++)] + 1;
      y.push_back(int32_t(label));
      for (int64_t s = 0; s < heard; ++s) x[size_t((i * 14 + step++) * 4 + label)] = 1;
      step += numbers[size_t(at++)] % 2 + 1;
    }
  }
  return {Tensor({examples, 14, 4}, x), Tensor({examples, 3}, y)};
}

}  // namespace

TEST_CASE("a network learns labels whose times it is not told", "[ops][ctc]") {
  nn::Sequential model(nn::LSTM({.units = 16, .return_sequences = true}), nn::Dense({.units = 4}));
  const Spoken training = spoken(32, 1), test = spoken(50, 2);
  optim::Adam adam({.learning_rate = 0.03});
  for (int step = 0; step < 120; ++step) {
    GradientTape tape;
    const Tensor loss = losses::CTC()(training.y, model(training.x));
    const auto weights = model.trainable_variables();
    adam.apply_gradients(tape.gradient(loss, weights), weights);
  }
  const Tensor lengths(Shape{50}, std::vector<int32_t>(50, 14));
  const Tensor decoded = nn::ctc_decode(model(test.x), lengths).decoded;
  int right = 0;
  for (size_t i = 0; i < 50; ++i) {
    const auto got = decoded.data<int32_t>().subspan(i * 14, 4);
    const auto wanted = test.y.data<int32_t>().subspan(i * 3, 3);
    right += std::equal(wanted.begin(), wanted.end(), got.begin()) && got[3] == -1;
  }
  CHECK(right >= 45);
}
