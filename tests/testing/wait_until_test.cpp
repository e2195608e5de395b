#include <distribute/base/error.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/catch.hpp>

#include <stdexcept>

using namespace distribute;
using testing::wait_until;

TEST_CASE("wait_until asks until the answer is yes", "[testing][wait_until]") {
  int asked = 0;
  wait_until([&] { return ++asked == 5; }, "five questions were asked");
  CHECK(asked == 5);
}

TEST_CASE("wait_until gives up and says what it waited for", "[testing][wait_until]") {
  CHECK_THROWS_WITH(wait_until([] { return false; }, "pigs fly", 0.02),
                    "waited 0.02 s until pigs fly");
  CHECK_THROWS_AS(wait_until([] { return false; }, "pigs fly", 0), DeadlineExceededError);
}

TEST_CASE("wait_until passes exceptions on", "[testing][wait_until]") {
  CHECK_THROWS_AS(wait_until([]() -> bool { throw std::runtime_error("no"); }, "nothing"),
                  std::runtime_error);
}
