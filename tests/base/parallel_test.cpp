#include <distribute/base/parallel.hpp>

#include <tests/support/catch.hpp>

#include <atomic>
#include <new>
#include <stdexcept>
#include <string>

using namespace distribute;

namespace {

/// The calling thread's operations may use that many threads while it lives.
class Threads {
 public:
  explicit Threads(int threads) { set_intra_op_threads(threads); }
  ~Threads() { set_intra_op_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  const int before_ = intra_op_threads();
};

}  // namespace

TEST_CASE("an exception in a part of a loop reaches the caller when all parts are over",
          "[base][parallel]") {
  const Threads threads(4);
  std::atomic<int> over{0};
  const auto part = [&](int64_t begin, int64_t) {
    ++over;
    if (begin > 0) throw std::bad_alloc();  // in the threads that are not the caller's
  };
  CHECK_THROWS_AS(parallel_for(4, 1, part), std::bad_alloc);
  CHECK(over == 4);
  int64_t sum = 0;
  parallel_for(1, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  CHECK(sum == 1);
}

TEST_CASE("the caller gets one of several exceptions whole, with any number of threads",
          "[base][parallel]") {
  const Threads threads(GENERATE(1, 2, 3, 16));
  for (int turn = 0; turn < 20; ++turn) {
    std::string text;
    try {
      parallel_for(64, 1, [](int64_t begin, int64_t end) {
        throw std::runtime_error("part " + std::to_string(begin) + " to " + std::to_string(end));
      });
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    REQUIRE_THAT(text, Catch::Matchers::StartsWith("part "));
  }
  std::atomic<int64_t> sum{0};  // the threads are as good as before
  parallel_for(64, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  CHECK(sum == 64);
}

TEST_CASE("what is no std::exception reaches the caller, too", "[base][parallel]") {
  const Threads threads(GENERATE(1, 4));
  int caught = 0;
  try {
    parallel_for(8, 1, [](int64_t begin, int64_t) {
      if (begin == 0) throw 7;
    });
  } catch (int number) {
    caught = number;
  }
  CHECK(caught == 7);
}

TEST_CASE("an exception passes through loops inside of loops", "[base][parallel]") {
  const Threads threads(GENERATE(1, 2, 8));
  std::atomic<int> inner{0}, outer{0};
  const auto nested = [&](int64_t begin, int64_t end) {
    ++outer;
    for (int64_t i = begin; i < end; ++i) {
      try {
        parallel_for(4, 1, [&](int64_t, int64_t) { throw std::out_of_range("inner"); });
      } catch (const std::out_of_range&) {
        ++inner;
        if (i == 5) throw;
      }
    }
  };
  CHECK_THROWS_WITH(parallel_for(8, 1, nested), "inner");
  CHECK(outer >= 1);
  CHECK(inner >= 6);  // all of the parts before it, and those before it in its part
}
