#include <distribute/data/random.hpp>

#include <tests/support/catch.hpp>

using namespace distribute::data;

TEST_CASE("draws follow from key and number alone", "[data][random]") {
  Random a(7), b(7), c(8);
  std::vector<int64_t> first, again, other;
  for (int i = 0; i < 100; ++i) {
    first.push_back(a.below(1000));
    again.push_back(b.below(1000));
    other.push_back(c.below(1000));
  }
  CHECK(first == again);
  CHECK(first != other);
  CHECK(first[42] == draw(7, 42, 1000));
}

TEST_CASE("draws fill their range evenly", "[data][random]") {
  std::vector<int> counts(10, 0);
  Random random(1);
  double sum = 0, squares = 0, mean = 0;
  int heads = 0;
  for (int i = 0; i < 100'000; ++i) {
    ++counts[size_t(random.below(10))];
    const float u = random.uniform(-1, 3);
    REQUIRE(u >= -1);
    REQUIRE(u < 3);
    mean += double(u) / 100'000;
    const double n = double(random.normal());
    sum += n;
    squares += n * n;
    heads += random.coin();
  }
  for (int count : counts) CHECK(std::abs(count - 10'000) < 500);
  CHECK(mean == Approx(1).margin(0.02));
  CHECK(sum / 100'000 == Approx(0).margin(0.02));
  CHECK(squares / 100'000 == Approx(1).margin(0.03));
  CHECK(std::abs(heads - 50'000) < 1000);
}

TEST_CASE("keys differ in every part and in their order", "[data][random]") {
  std::set<uint64_t> keys;
  for (uint64_t seed : {0, 1, 2})
    for (uint64_t pass : {0, 1, 2})
      for (uint64_t number = 0; number < 100; ++number) {
        const uint64_t parts[] = {seed, pass, number};
        keys.insert(random_key(parts));
      }
  CHECK(keys.size() == 900);
}
