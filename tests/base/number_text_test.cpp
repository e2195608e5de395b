#include <distribute/base/detail/number_text.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/comma_locale.hpp>

#include <complex>

using namespace distribute;
using base_internal::leading_number;
using base_internal::nine_digits;
using base_internal::printed_number;

TEST_CASE("numbers for machines are those of the C locale", "[base][number_text]") {
  for (const double value : {0.0, -0.0, 1.0, -2.5, 1e-7, 123456789.0, 1234567890.0, 0.1, 1e300,
                             3.4028235e38, double(NAN)}) {
    char wanted[40];
    std::snprintf(wanted, sizeof wanted, "%.9g", value);
    CHECK(nine_digits(value) == wanted);
  }
  size_t used = 0;
  CHECK(leading_number(" 12.5e1 rest", &used) == 125);
  CHECK(used == 7);
  CHECK(leading_number("+3") == 3);
  CHECK(leading_number("none", &used) == 0);
  CHECK(used == 0);
  CHECK(leading_number("") == 0);
  CHECK(leading_number("-1e400") == -HUGE_VAL);
  CHECK(leading_number("1e-400") == 0);
}

TEST_CASE("numbers for machines keep their point under a locale with a comma",
          "[base][number_text]") {
  const CommaLocale locale;
  CHECK(printed_number("%08.3f", 1234.5) == "1234.500");
  CHECK(printed_number("%g", 0.25) == "0.25");
  CHECK(nine_digits(1234.5) == "1234.5");
  CHECK(leading_number("1234.5\n") == 1234.5);
  CHECK(str_cat(12345.5) == "12345.5");
  CHECK(str_cat(std::complex<double>(1234.5, 1)) == "(1234.5,1)");
  CHECK(log_internal::json_number(0.5) == "0.5");
  CHECK(base_internal::exact_word(1e6 + 0.5) == "1000000.5");
}

// What the other tests of locales rely on.
TEST_CASE("the locale with a comma is there", "[base][number_text]") {
  const CommaLocale locale;
  if (!locale.in_c()) SKIP("neither de_DE.UTF-8 nor its sources are installed (package locales)");
  char text[20];
  std::snprintf(text, sizeof text, "%.1f", 0.5);
  CHECK(std::string(text) == "0,5");
}
