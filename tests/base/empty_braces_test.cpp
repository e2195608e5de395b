#include <distribute/base/detail/empty_braces.hpp>

#include "support/catch.hpp"

using namespace distribute;

namespace {

struct Options {
  int number = 3;
  std::array<int, 2> size = {1, 2};
};

struct WithOptions {
  explicit WithOptions(EmptyBraces) : WithOptions() {}
  explicit WithOptions(Options options = {}) : number(options.number) {}
  WithOptions(const WithOptions&) = delete;
  int number;
};

}  // namespace

TEST_CASE("empty braces are default options, and others stay what they were", "[base]") {
  CHECK(WithOptions({}).number == 3);
  CHECK(WithOptions().number == 3);
  CHECK(WithOptions({.number = 5}).number == 5);
  CHECK(WithOptions({6}).number == 6);
  CHECK(WithOptions({0}).number == 0);
  CHECK(WithOptions({.size = {3, 4}}).number == 3);
  CHECK(WithOptions{Options{7}}.number == 7);
}
