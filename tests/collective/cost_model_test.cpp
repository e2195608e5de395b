#include <distribute/collective/detail/cost_model.hpp>

#include <tests/support/catch.hpp>

#include <bit>
#include <vector>

using namespace distribute::collective;
using Algorithm = AllReduceAlgorithm;

namespace {

const std::vector<Algorithm> kAll = {Algorithm::Exchange, Algorithm::Doubling, Algorithm::Direct,
                                     Algorithm::Halving, Algorithm::Ring};
const std::vector<int> kRanks = {2, 3, 4, 8, 16, 17, 64, 256, 1024, 4096};
/// 10 Gbit/s between hosts.
constexpr LinkCosts kTenGigabit = {.latency = 30e-6, .bytes_per_second = 1.175e9};

}  // namespace

TEST_CASE("more bytes never take less time", "[collective][cost_model]") {
  for (Algorithm algorithm : kAll)
    for (int ranks : kRanks) {
      CAPTURE(name_of(algorithm), ranks);
      double before = 0;
      for (int64_t bytes = 0; bytes <= int64_t{1} << 32; bytes = bytes * 2 + 4) {
        const double seconds = all_reduce_seconds(algorithm, bytes, ranks);
        CHECK(seconds >= before);
        before = seconds;
      }
    }
}

TEST_CASE("more ranks, and slower networks, never take less time", "[collective][cost_model]") {
  for (Algorithm algorithm : kAll)
    for (int64_t bytes : {0, 4, 64 << 10, 1 << 20, 100 << 20}) {
      CAPTURE(name_of(algorithm), bytes);
      double before = 0;
      for (int ranks : kRanks) {
        const double seconds = all_reduce_seconds(algorithm, bytes, ranks);
        if (std::has_single_bit(unsigned(ranks))) {  // others take further messages in a tree
          CHECK(seconds >= before);
          before = seconds;
        }
        const LinkCosts slow = {.latency = 1e-3, .bytes_per_second = 1e8};
        CHECK(all_reduce_seconds(algorithm, bytes, ranks, slow) > seconds);
      }
    }
  CHECK(all_reduce_seconds(Algorithm::Direct, 1000, 1) == 0);
}

TEST_CASE("no all-reduce beats the bytes that every rank must send", "[collective][cost_model]") {
  for (Algorithm algorithm : kAll)
    for (int ranks : kRanks)
      CHECK(all_reduce_seconds(algorithm, 100 << 20, ranks) >
            2.0 * (ranks - 1) / ranks * double(100 << 20) / LinkCosts().bytes_per_second);
}

TEST_CASE("small arrays go whole to all ranks, large ones are shared out, with one crossing",
          "[collective][cost_model]") {
  for (int ranks : kRanks) {
    CAPTURE(ranks);
    const bool few = ranks <= kMostDirectRanks;
    const Algorithm small = few ? Algorithm::Exchange : Algorithm::Doubling;
    const Algorithm large = few ? Algorithm::Direct : Algorithm::Halving;
    CHECK(choose_algorithm(4, ranks) == small);
    CHECK(choose_algorithm(100 << 20, ranks) == large);
    int crossings = 0;
    for (int64_t bytes = 4; bytes < 100 << 20; bytes = bytes * 5 / 4)
      crossings += choose_algorithm(bytes, ranks) != choose_algorithm(bytes * 5 / 4, ranks);
    CHECK(crossings == 1);
  }
}

TEST_CASE("what is chosen is the fastest of what may be", "[collective][cost_model]") {
  for (int ranks : {2, 5, 16})
    for (int64_t bytes : {4, 4096, 65536, 1 << 20}) {
      const double chosen = all_reduce_seconds(choose_algorithm(bytes, ranks), bytes, ranks);
      CHECK(chosen <= all_reduce_seconds(Algorithm::Exchange, bytes, ranks));
      CHECK(chosen <= all_reduce_seconds(Algorithm::Direct, bytes, ranks));
    }
}

TEST_CASE("the time grows with the logarithm of the number of ranks", "[collective][cost_model]") {
  const auto ms = [](int64_t bytes, int ranks) {
    return 1e3 * all_reduce_seconds(choose_algorithm(bytes, ranks, kTenGigabit), bytes, ranks,
                                    kTenGigabit);
  };
  for (int64_t bytes : {4, 4096, 64 << 10, 1 << 20, 25 << 20}) {
    CAPTURE(bytes);
    CHECK(ms(bytes, 1024) < 2.01 * ms(bytes, 32));
    CHECK(ms(bytes, 4096) - ms(bytes, 2048) ==
          Approx(ms(bytes, 2048) - ms(bytes, 1024)).epsilon(0.3));
  }
  CHECK(ms(64 << 10, 1024) < 1);
  CHECK(ms(25 << 20, 1024) < 55);
}

TEST_CASE("a section's messages cost little beside its bytes", "[collective][cost_model]") {
  for (int ranks : {17, 32, 33, 48, 257, 1024}) {
    CAPTURE(ranks);
    const int64_t section = section_bytes(ranks, kTenGigabit, 256 << 10);
    CHECK(section >= 1 << 20);
    CHECK(section <= 32 << 20);
    const double alone =
        all_reduce_seconds(Algorithm::Halving, 100 << 20, ranks, {.latency = 0, .per_message = 0});
    CHECK(all_reduce_seconds(Algorithm::Halving, 100 << 20, ranks, {.latency = 0}) < 1.2 * alone);
  }
}

TEST_CASE("a large broadcast goes through a chain of few ranks, and a tree of many",
          "[collective][cost_model]") {
  CHECK(broadcast_children(100 << 20, 4, kTenGigabit, 256 << 10) == 1);
  CHECK(broadcast_children(1 << 20, 1024, kTenGigabit, 256 << 10) == 2);
}

TEST_CASE("a step hides the all-reduces that fit beside its backward pass",
          "[collective][cost_model]") {
  const StepShape fits = {.forward_seconds = 1, .backward_seconds = 2, .gradient_bytes = 100 << 20};
  const double alone = step_seconds(fits, 1, kTenGigabit);
  CHECK(alone == Approx(3));
  const double two = step_seconds(fits, 2, kTenGigabit);
  CHECK(two > alone);
  // Only the last bucket is left when the backward pass ends.
  CHECK(two < alone + 1.1 * all_reduce_seconds(Algorithm::Direct, 25 << 20, 2, kTenGigabit));

  const StepShape network_bound = {.gradient_bytes = 100 << 20};
  CHECK(step_seconds(network_bound, 8, kTenGigabit) >
        0.99 * all_reduce_seconds(Algorithm::Direct, 100 << 20, 8, kTenGigabit));
  double before = 0;
  for (int ranks : kRanks) {
    const double seconds = step_seconds(fits, ranks, kTenGigabit);
    CHECK(seconds >= 0.999 * before);
    before = seconds;
  }
}

TEST_CASE("known figures: ResNet-50's gradients over 10 Gbit/s", "[collective][cost_model]") {
  // 102.2 MB: 87 ms for 2 ranks, 131 for 4, 152 for 8 are the bounds by the bytes alone.
  const auto ms = [](int ranks) {
    return 1e3 * all_reduce_seconds(Algorithm::Direct, 102'200'000, ranks, kTenGigabit);
  };
  CHECK(ms(2) == Approx(87).epsilon(0.25));
  CHECK(ms(4) == Approx(131).epsilon(0.25));
  CHECK(ms(8) == Approx(152).epsilon(0.25));
}
