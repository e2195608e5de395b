#include <distribute/ops/random.hpp>

#include <distribute/base/parallel.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using Words = std::array<uint32_t, 4>;

TEST_CASE("philox gives the known answers of its authors", "[ops][random]") {
  CHECK(random::philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(random::philox({~0u, ~0u, ~0u, ~0u}, ~uint64_t{0}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(random::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// In TensorFlow, too: the second call gives other numbers, and set_seed begins anew.
TEST_CASE("draws without a seed follow the process's seed", "[ops][random]") {
  const auto draw = [] {
    return std::vector{random::uniform({4}).to_vector(), random::uniform({4}).to_vector(),
                       random::normal({4}, {.mean = 9}).to_vector(),
                       random::truncated_normal({4}).to_vector()};
  };
  random::set_seed(5);
  const auto first = draw(), second = draw();
  CHECK(first[0] != first[1]);
  CHECK(first != second);
  random::set_seed(5);
  CHECK(draw() == first);
  random::set_seed(6);
  CHECK(draw() != first);
  random::set_seed(5);
  const uint64_t seed = random::next_seed();
  CHECK(random::uniform({4}, seed).to_vector() == first[0]);
  random::set_seed(0);
}

TEST_CASE("uniform numbers come from philox, four to a counter", "[ops][random]") {
  const Tensor x = random::uniform({9}, 7);
  const Words words = random::philox({2, 0, 0, 0}, 7);
  CHECK(x.data<float>()[8] == float(words[0] >> 8) * 0x1p-24f);
}

TEST_CASE("the numbers depend on seed and position, not on threads or shape", "[ops][random]") {
  const auto draw = [](int threads, const Shape& shape, uint64_t seed) {
    set_intra_op_threads(threads);
    std::vector<std::vector<float>> all{random::uniform(shape, seed).to_vector(),
                                        random::normal(shape, seed).to_vector(),
                                        random::truncated_normal(shape, seed).to_vector(),
                                        nn::dropout(ones(shape), 0.3f, seed, 5).to_vector()};
    return all;
  };
  const int threads = intra_op_threads();
  const auto alone = draw(1, {100, 101}, 42), others = draw(4, {100, 101}, 42);
  CHECK(alone == others);
  const auto shorter = draw(3, {77}, 42), other_seed = draw(1, {77}, 43);
  for (size_t kind = 0; kind < alone.size(); ++kind) {
    CHECK(std::equal(shorter[kind].begin(), shorter[kind].end(), alone[kind].begin()));
    CHECK(other_seed[kind] != shorter[kind]);
  }
  set_intra_op_threads(threads);
}

TEST_CASE("distributions have their moments and bounds", "[ops][random]") {
  const Shape shape{200000};
  const Tensor uniform = random::uniform(shape, 1, {.minval = -2, .maxval = 4});
  CHECK(reduce_mean(uniform).item<float>() == Approx(1).margin(0.02));
  CHECK(reduce_std(uniform).item<float>() == Approx(std::sqrt(3.0)).epsilon(0.01));
  CHECK(reduce_min(uniform).item<float>() >= -2);
  CHECK(reduce_max(uniform).item<float>() < 4);
  const Tensor normal = random::normal(shape, 2, {.mean = 3, .stddev = 2});
  CHECK(reduce_mean(normal).item<float>() == Approx(3).margin(0.03));
  CHECK(reduce_std(normal).item<float>() == Approx(2).epsilon(0.01));
  const Tensor truncated = random::truncated_normal(shape, 3, {.mean = 1, .stddev = 0.5f});
  CHECK(reduce_mean(truncated).item<float>() == Approx(1).margin(0.01));
  CHECK(reduce_std(truncated).item<float>() == Approx(0.5 * 0.87962566).epsilon(0.01));
  CHECK(reduce_min(truncated).item<float>() >= 0);
  CHECK(reduce_max(truncated).item<float>() <= 2);
}

TEST_CASE("uniform integers fill their range", "[ops][random]") {
  const Tensor x = random::uniform_int({1000}, 1, -3, 4);
  CHECK(x.dtype() == DType::Int64);
  const auto values = x.data<int64_t>();
  CHECK(std::set<int64_t>(values.begin(), values.end()) ==
        std::set<int64_t>{-3, -2, -1, 0, 1, 2, 3});
  CHECK_THROWS_AS(random::uniform_int({1}, 1, 2, 2), InvalidArgumentError);
}

TEST_CASE("fresh seeds repeat after set_seed", "[ops][random]") {
  random::set_seed(5);
  const uint64_t first = random::next_seed(), second = random::next_seed();
  CHECK(first != second);
  random::set_seed(6);
  CHECK(random::next_seed() != first);
  random::set_seed(5);
  CHECK(random::next_seed() == first);
  CHECK(random::next_seed() == second);
  random::set_seed(0);
}

TEST_CASE("dropout drops its share and scales the rest", "[ops][random]") {
  const Tensor x = ones({100000});
  const Tensor y = nn::dropout(x, 0.25f, 9);
  const float scale = 1 / 0.75f;
  int64_t dropped = 0;
  bool only_two_values = true;
  for (float value : y.data<float>()) {
    dropped += value == 0;
    only_two_values &= value == 0 || value == scale;
  }
  CHECK(only_two_values);
  CHECK(double(dropped) == Approx(25000).epsilon(0.03));
  CHECK(nn::dropout(x, 0.25f, 9).to_vector() == y.to_vector());
  CHECK(nn::dropout(x, 0.25f, 9, 1).to_vector() != y.to_vector());
}

TEST_CASE("dropout of rate 0 is the identity, other rates are checked", "[ops][random]") {
  const Tensor x{1.0f};
  CHECK(nn::dropout(x, 0, 1).id() == x.id());
  CHECK_THROWS_WITH(nn::dropout(x, 1, 1), "dropout: the rate must lie in [0, 1), got 1");
  CHECK_THROWS_AS(nn::dropout(x, -0.1f, 1), InvalidArgumentError);
  CHECK_THROWS_AS(nn::dropout(Tensor{1}, 0.5f, 1), InvalidArgumentError);
}

TEST_CASE("dropout's gradient has the same mask", "[ops][random]") {
  const Tensor x = test_tensor({6, 5});
  check_gradient([](auto& in) { return nn::dropout(in[0], 0.4f, 3, 2); }, {x}, {.second = true});
  WatchingTape tape({x});
  const Tensor y = nn::dropout(x, 0.4f, 3);
  CHECK(not_equal(y, Tensor(0.0f)).to_vector() ==
        not_equal(tape.gradient(y, x), Tensor(0.0f)).to_vector());
}

TEST_CASE("dropout keeps 16-bit floats", "[ops][random]") {
  const Tensor y = nn::dropout(ones({64}, DType::BFloat16), 0.5f, 1);
  CHECK(y.dtype() == DType::BFloat16);
  CHECK(reduce_max(y).item<float>() == 2);
}

TEST_CASE("class numbers are drawn as the logits say", "[ops][random]") {
  const Tensor logits({2, 3}, std::vector<float>{0, std::log(2.0f), std::log(5.0f), 100, 0, 0});
  const int64_t draws = 40'000;
  const Tensor drawn = random::categorical(logits, draws, 3);
  REQUIRE(drawn.shape() == Shape{2, draws});
  CHECK(drawn.dtype() == DType::Int64);
  std::vector<double> shares(3);
  for (int64_t i = 0; i < draws; ++i)
    shares[size_t(drawn.data<int64_t>()[size_t(i)])] += 1.0 / draws;
  for (size_t c = 0; c < 3; ++c)
    CHECK(shares[c] == Approx(std::vector{1, 2, 5}[c] / 8.0).margin(0.01));
  for (int64_t i = draws; i < 2 * draws; ++i) REQUIRE(drawn.data<int64_t>()[size_t(i)] == 0);
  CHECK(random::categorical(logits, 9, 3).to_vector() ==
        random::categorical(logits, 9, 3).to_vector());
  CHECK_THROWS_AS(random::categorical(Tensor{1.0f}, 1, 1), InvalidArgumentError);
}
