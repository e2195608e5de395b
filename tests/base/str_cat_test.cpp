#include <distribute/base/error.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

TEST_CASE("words of any kind are joined", "[base]") {
  CHECK(str_cat() == "");
  CHECK(str_cat("step ", 3, ' ', true, std::string(" of "), uint8_t{200}) == "step 3 1 of 200");
  CHECK(str_cat(int8_t{-5}, ' ', std::numeric_limits<uint64_t>::max()) ==
        "-5 18446744073709551615");
  CHECK(str_cat(0.1, ' ', 1763841234.25, ' ', 2.0f) == "0.1 1.76384e+09 2");
}

TEST_CASE("an exact number reads back as the same", "[base]") {
  using base_internal::exact_word;
  CHECK(exact_word(1763841234.25) == "1763841234.25");
  for (const double number : {0.1, 1.0 / 3, -1e300, 2.5e-308})
    CHECK(std::stod(exact_word(number)) == number);
}
