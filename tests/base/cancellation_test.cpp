#include <distribute/base/error.hpp>
#include <distribute/base/threads.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;  // NOLINT: tests only

TEST_CASE("a thread's work is cancelled inside its scope only", "[base][cancellation]") {
  CancellationFlag flag{true}, other{false};
  CHECK_FALSE(is_cancelled());
  CHECK_NOTHROW(throw_if_cancelled());
  {
    const CancellationScope scope(&flag);
    CHECK(is_cancelled());
    CHECK_THROWS_AS(throw_if_cancelled(), CancelledError);
    {
      const CancellationScope inner(&other);
      CHECK_FALSE(is_cancelled());
      other = true;
      CHECK(is_cancelled());
      const CancellationScope shielded(nullptr);
      CHECK_FALSE(is_cancelled());
    }
    bool elsewhere = true;
    std::thread([&] { elsewhere = is_cancelled(); }).join();
    CHECK_FALSE(elsewhere);
    flag = false;
    CHECK_FALSE(is_cancelled());
  }
  flag = true;
  CHECK_FALSE(is_cancelled());
}
