#include <distribute/base/detail/safe_text.hpp>
#include <distribute/base/logging.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>

using namespace distribute;
using namespace distribute::base_internal;

TEST_CASE("text from strangers keeps plain letters and shows the rest as escapes",
          "[base][safe_text]") {
  CHECK(plain_letters("worker 1 (host-a:22)", 100) == "worker 1 (host-a:22)");
  CHECK(plain_letters("J\u00fcrgen \u0416 \u6f22\u5b57", 100) == "J\u00fcrgen \u0416 \u6f22\u5b57");
  CHECK(plain_letters("\x1b[31m\n\x7f", 100) == "\\x1b[31m\\x0a\\x7f");
  CHECK(plain_letters("\xc2\x9b"
                      "31m",
                      100) == "\\u009b31m");  // C1
  CHECK(plain_letters("a\u202eb\u2066c\u200bd", 100) == "a\\u202eb\\u2066c\\u200bd");
  CHECK(plain_letters("\xff\xc0\x80\xed\xa0\x80", 100) == "\\xff\\xc0\\x80\\xed\\xa0\\x80");
  CHECK(plain_letters("a\u0301", 100) == "a\\u0301");  // may pile up
  CHECK(plain_letters("0123456789", 4) == "0123...");
}

TEST_CASE("the log escapes what a terminal would take for a command, in both formats",
          "[base][safe_text]") {
  const std::string text =
      "peer \x1b]0;x\x07 \xc2\x9b"
      "1m \u202e \u05d0\n\tnext";
  CHECK(safe_lines(text) == "peer \\x1b]0;x\\x07 \\u009b1m \\u202e \u05d0\n\tnext");
  CHECK(safe_line("a\nb\tc") == "a\\x0ab\\x09c");
  CHECK(log_internal::json_string(text) ==
        "\"peer \\u001b]0;x\\u0007 \\u009b1m \\u202e \u05d0\\n\\u0009next\"");
  CHECK(log_internal::json_string("\xff\"\\") == "\"\\ufffd\\\"\\\\\"");
}
