#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/net/address.hpp>

#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>

#include <sys/stat.h>

using namespace distribute;
using namespace distribute::untrusted;

namespace {

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

void check_refused(const std::string& text, const std::string& part) {
  check_throws<InvalidArgumentError>([&] { parse_json(text, "X"); }, "X: ");
  check_throws<InvalidArgumentError>([&] { parse_json(text, "X"); }, part);
}

}  // namespace

TEST_CASE("JSON keeps order, nesting and numbers as written", "[base][untrusted_json]") {
  const JsonValue root =
      parse_json(R"({"b": [1, -2.50, true, null], "a": {"x": "\u00e4\n"}})", "X");
  REQUIRE(root.members.size() == 2);
  CHECK(root.members[0].key == "b");
  const JsonValue& list = *root.find("b");
  CHECK(list.items[0].is_integer);
  CHECK(list.items[1].text == "-2.50");
  CHECK_FALSE(list.items[1].is_integer);
  CHECK(list.items[3].is_null());
  CHECK(root.find("a")->find("x")->text == "ä\n");
  CHECK(root.find("c") == nullptr);
  CHECK(list.find("b") == nullptr);
}

TEST_CASE("text that is not JSON is refused with its place", "[base][untrusted_json]") {
  check_refused("", "an empty text is not JSON");
  check_refused(" \n", "an empty text is not JSON");
  check_refused("{", "at line 1, column 2");
  check_refused(R"({"cluster": })", "near");
  check_refused("{'a': 1}", "not valid JSON at line 1, column 2, near '{'a': 1}'");
  check_refused("{\n  \"a\": 1\n  \"b\": 2}", "not valid JSON at line 3, column 5");
  check_refused("{} trailing", "not valid JSON");
  check_refused("[1,]", "not valid JSON");
  check_refused("NaN", "not valid JSON");
  check_refused("\xef\xbb\xbf{}", "byte order mark");
  check_refused("{\"a\": \"x\ny\"}", "not valid JSON");
  check_refused("\"\xff\xfe\"", "not valid JSON");
  check_refused(R"("\ud800")", "not valid JSON");
  check_refused(std::string("{\"a\": \0}", 8), "\\x00");
  check_refused("[1e400]", "not valid JSON");
}

TEST_CASE("the error of text that is not JSON says in plain words what to mend",
          "[base][untrusted_json]") {
  const std::string quotes = "names and texts stand in double quotes";
  for (const char* text : {"{'a': 1}", "{a:1}", "NaN", "[True]", "[None]"})
    check_refused(text, quotes);
  check_refused(R"({"cluster": {)", "the text ends before every bracket is closed");
  check_refused(R"({"a": "b)", "a double quote is missing at the end of a text");
  check_refused("{} x", "more follows behind the end of the value");
  check_refused("[1,]", "missing before ']', or a comma stands before it");
  check_refused(R"({"cluster": })", "missing before '}'");
  check_refused(R"({"a" 1})", "a colon is missing before this place");
  check_refused(R"(["a" "b"])", "a comma or a bracket is missing before this place");
  check_refused(R"({"a": 1 "b": 2})", "a comma or a bracket is missing before this place");
  check_refused("{\"a\": \"x\ny\"}", "a line break or another control character stands in a text");
  check_refused("\"\xff\xfe\"", "a byte is not UTF-8");
  check_refused(R"("\ud800")", "one half is missing");
  check_refused(R"(["C:\dir"])", "stands before one of");
  check_refused("[1e400]", "the number is too large");
  for (const char* text : {"{'a': 1}", "{a:1}", "{", "[1,]", R"({"a" 1})", "{} x"}) try {
      parse_json(text, "X");
      FAIL(text);
    } catch (const InvalidArgumentError& error) {
      for (const char* phrase : {"syntax error", "parse_error", "expected", "literal"})
        CHECK(std::string(error.what()).find(phrase) == std::string::npos);
    }
}

TEST_CASE("a key that occurs twice is refused at any depth", "[base][untrusted_json]") {
  check_refused(R"({"a": 1, "b": 2, "a": 3})", "the key 'a' occurs twice");
  check_refused(R"([{"x": {"k": 1, "k": 1}}])", "the key 'k' occurs twice");
  CHECK(parse_json(R"([{"k": 1}, {"k": 2}])", "X").items.size() == 2);
}

TEST_CASE("depth and number of values have limits", "[base][untrusted_json]") {
  CHECK_NOTHROW(parse_json(repeated("[", kMaxJsonDepth) + repeated("]", kMaxJsonDepth), "X"));
  check_refused(repeated("[", kMaxJsonDepth + 1) + repeated("]", kMaxJsonDepth + 1), "nested");
  check_refused(repeated("[", 1'000'000), "nested more than 100 deep");
  check_refused(repeated("{\"a\":", 300'000), "nested more than 100 deep");
  check_refused("[" + repeated("0,", kMaxJsonValues) + "0]", "more than 1000000 values");
}

TEST_CASE("messages show foreign text escaped and cut", "[base][untrusted_text]") {
  CHECK(shown("plain") == "'plain'");
  CHECK(shown(std::string("a\0\n\x7f", 4)) == "'a\\x00\\x0a\\x7f'");
  CHECK(shown(repeated("x", 1000)).size() < 100);
  const std::string cut = shown(repeated("x", 79) + "ä");
  CHECK(cut == "'" + repeated("x", 79) + "'...");  // no half character
}

TEST_CASE("numbers are read as Python's int() reads them", "[base][untrusted_text]") {
  CHECK(parse_int("1") == 1);
  CHECK(parse_int(" 007 ") == 7);
  CHECK(parse_int("+3") == 3);
  CHECK(parse_int("-3") == -3);
  for (const char* text : {"", " ", "+", "-", "+-3", "1.0", "0x1", "1 2", "2147483648", "one"}) {
    INFO(text);
    CHECK_FALSE(parse_int(text));
  }
}

TEST_CASE("integers in JSON may be strings, truths or have a fraction", "[base][untrusted_json]") {
  const auto number = [](const char* text) { return int_of(parse_json(text, "X"), "X"); };
  CHECK(number("5") == 5);
  CHECK(number("\" 5 \"") == 5);
  CHECK(number("true") == 1);
  CHECK(number("1.9") == 1);
  CHECK(number("-1.9") == -1);
  for (const char* text : {"null", "[]", "{}", "\"x\"", "4294967296", "1e300",
                           "123456789012345678901234567890", "\"\""}) {
    INFO(text);
    check_throws<InvalidArgumentError>([&] { number(text); }, "X must be a whole number");
  }
}

TEST_CASE("hosts and ports join, IPv6 in brackets", "[base][untrusted_text]") {
  CHECK(net::join_host_port("a", 1) == "a:1");
  CHECK(net::join_host_port("::1", 65535) == "[::1]:65535");
  CHECK(net::join_host_port("[::1]", 2) == "[::1]:2");
  check_throws<InvalidArgumentError>([] { net::join_host_port("a", 0); }, "from 1 to 65535");
  check_throws<InvalidArgumentError>([] { net::join_host_port("a", 65536); }, "65536");
  check_throws<InvalidArgumentError>([] { net::join_host_port("", 1); }, "no name");
  check_throws<InvalidArgumentError>([] { net::join_host_port("a b", 1); }, "'a b'");
}

TEST_CASE("a small text file is read whole, anything else is refused with its reason",
          "[base][untrusted_text]") {
  const TemporaryDirectory directory;
  const std::string file = directory / "file", pipe = directory / "pipe";
  std::ofstream(file) << std::string("a\nb\0c", 5);
  CHECK(read_text_file(file) == std::string("a\nb\0c", 5));
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  check_throws<InvalidArgumentError>([&] { read_text_file(file, 4); }, "it has 5 bytes; at most 4");
  check_throws<InvalidArgumentError>([&] { read_text_file(pipe); }, "is a device or a pipe");
  check_throws<InvalidArgumentError>([] { read_text_file("/dev/zero"); }, "is a device or a pipe");
  check_throws<InvalidArgumentError>([&] { read_text_file(directory.path()); }, "is a directory");
  check_throws<NotFoundError>([&] { read_text_file(directory / "none"); },
                              "cannot read " + (directory / "none") + ": No such file");
}
