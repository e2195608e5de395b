#include <distribute/parameter_server/detail/store.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using namespace distribute::parameter_server;

TEST_CASE("a variable for which there is no memory leaves nothing behind",
          "[parameter_server][store]") {
  Store store(nullptr);
  const Store::Creator creator{"worker 0", [] { return false; }};
  const auto never = [] { return false; };
  const Shape huge{int64_t{1} << 50};
  CHECK_THROWS(store.create("w", huge, DType::Float32, creator, never));
  CHECK_FALSE(store.exists("w"));
  CHECK(store.bytes() == 0);
  const Store::Created made = store.create("w", Shape{2}, DType::Float32, creator, never);
  CHECK(made.initialize);
  CHECK(store.at(made.handle).bytes() == 8);
}
