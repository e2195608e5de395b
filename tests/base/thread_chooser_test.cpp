#include <distribute/base/detail/thread_chooser.hpp>

#include "../support/catch.hpp"

using distribute::base_internal::ThreadChooser;

namespace {

/// A program whose steps take `seconds(threads)`, on a clock of its own. Crowded or not is observed
/// ten times a second.
struct Program {
  explicit Program(int most) : chooser(most) {}

  void run(double for_seconds, const std::function<double(int)>& seconds,
           const std::function<bool(int)>& crowded, int idle = 0) {
    for (const double end = now + for_seconds; now < end;) {
      now += seconds(chooser.threads());
      used.insert(chooser.threads());
      if (now - observed >= 0.1) {
        observed = now;
        chooser.observe(now, crowded(chooser.threads()));
        if (idle > 0) chooser.hurry(now);
      }
      chooser.step(now);
    }
  }

  ThreadChooser chooser;
  double now = 100, observed = 0;
  std::set<int> used;
};

double quiet(int threads) { return 0.01 / threads; }
/// Beside a busy neighbour several threads wait for the one that has no core.
double beside_one(int threads) { return threads == 1 ? 0.01 : 0.02; }
bool never(int) { return false; }

}  // namespace

TEST_CASE("on quiet cores a program keeps all threads", "[base][thread_chooser]") {
  Program program(8);
  program.run(60, quiet, never);
  CHECK(program.used == std::set{8});
  CHECK(!program.chooser.is_contended());
}

TEST_CASE("one crowded moment is no neighbour", "[base][thread_chooser]") {
  Program program(8);
  int looks = 0;
  program.run(10, quiet, [&](int) { return ++looks % 2 == 0; });
  CHECK(program.used == std::set{8});
}

TEST_CASE("beside a neighbour the fastest number of threads is found", "[base][thread_chooser]") {
  Program program(2);
  program.run(3, beside_one, [](int threads) { return threads == 2; });
  CHECK(program.chooser.threads() == 1);
  CHECK(program.chooser.is_contended());
}

TEST_CASE("threads that gain little are left out", "[base][thread_chooser]") {
  const double gain = GENERATE(0.95, 1.05, 1.3);
  Program program(2);
  program.run(
      3, [&](int threads) { return threads == 1 ? 0.01 : 0.01 / gain; },
      [](int threads) { return threads == 2; });
  CHECK(program.chooser.threads() == (gain > 1.2 ? 2 : 1));
}

TEST_CASE("of many threads one fewer, half and one are tried", "[base][thread_chooser]") {
  Program program(16);
  program.run(
      5, [](int threads) { return threads == 15 ? 0.01 : 0.02; },
      [](int threads) { return threads == 16; });
  CHECK(program.used == std::set{16, 15, 8, 1});
  CHECK(program.chooser.threads() == 15);
}

TEST_CASE("all threads work again when the neighbour has left", "[base][thread_chooser]") {
  Program program(2);
  program.run(20, beside_one, [](int threads) { return threads == 2; });
  REQUIRE(program.chooser.threads() == 1);
  const int idle = GENERATE(0, 1);  // whether the host shows that cores are free
  program.run(idle ? 12 : 40, quiet, never, idle);
  CHECK(program.chooser.threads() == 2);
  CHECK(!program.chooser.is_contended());
}

TEST_CASE("trials take a small part of the time", "[base][thread_chooser]") {
  Program program(2);
  double at_two = 0;
  program.run(3, beside_one, [](int threads) { return threads == 2; });
  program.run(
      120,
      [&](int threads) {
        at_two += threads == 2 ? beside_one(2) : 0;
        return beside_one(threads);
      },
      [](int threads) { return threads == 2; });
  CHECK(at_two < 0.05 * 120);
}

TEST_CASE("a number of threads that may not change does not", "[base][thread_chooser]") {
  ThreadChooser chooser(4);
  for (double now = 1; now < 20; now += 0.1) {
    chooser.observe(now, now < 15, false);
    chooser.step(now);
    REQUIRE(chooser.threads() == 4);
    if (now > 2 && now < 15) REQUIRE(chooser.is_contended());
  }
  CHECK(!chooser.is_contended());
}

TEST_CASE("long steps are measured, too", "[base][thread_chooser]") {
  Program program(2);
  program.run(
      30, [](int threads) { return 100 * beside_one(threads); },
      [](int threads) { return threads == 2; });
  CHECK(program.chooser.threads() == 1);
}
