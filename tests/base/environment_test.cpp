/// Reading environment variables: of which type they are, and what the error says otherwise.

#include <distribute/base/environment.hpp>

#include <tests/support/check_throws.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>

using distribute::Environment;
using distribute::InvalidArgumentError;

namespace {

/// The error of reading variable X.
template <typename Read>
void check_refused(const std::string& value, const std::string& error, Read read) {
  const Environment variables(std::map<std::string, std::string>{{"X", value}});
  INFO(value);
  check_throws<InvalidArgumentError>([&] { read(variables); }, error);
}

}  // namespace

TEST_CASE("an environment is a map or the process's own", "[base][environment]") {
  const Environment map(std::map<std::string, std::string>{{"A", "1"}, {"B", "x"}});
  CHECK(map("A") == "1");
  CHECK(map.text("B") == "x");
  CHECK(map.text("C").empty());
  CHECK_FALSE(map.has("C"));
  CHECK(map.integer("A") == 1);
  CHECK_FALSE(map.integer("C"));
  const Environment own;
  CHECK(own("PATH") == std::string(std::getenv("PATH")));
  CHECK_FALSE(own.has("DISTRIBUTE_NO_SUCH_VARIABLE"));
}

TEST_CASE("numbers of the environment have a range, times one of their own",
          "[base][environment]") {
  const Environment variables(std::map<std::string, std::string>{
      {"FIVE", " 5\n"}, {"EMPTY", ""}, {"HALF", "0.5"}, {"LARGE", "4294967296"}});
  int number = 7;
  variables.read("NONE", 1, 9, number);
  variables.read("EMPTY", 1, 9, number);
  CHECK(number == 7);
  variables.read("FIVE", 1, 9, number);  // white space of a file that became a variable
  CHECK(number == 5);
  int64_t large = 0;
  variables.read("LARGE", int64_t{0}, int64_t{1} << 40, large);
  CHECK(large == int64_t{1} << 32);
  double seconds = 0;
  variables.read_seconds("HALF", seconds);
  CHECK(seconds == 0.5);
  for (const char* value : {"0", "10", "5x", "x", "1.5", "99999999999999999999", " "})
    check_refused(value, "X='" + std::string(value) + "': wanted a number from 1 to 9",
                  [&](const Environment& all) { all.read("X", 1, 9, number); });
  for (const char* value : {"nan", "inf", "-1", "0", "1e300", "1,5"})
    check_refused(value, "': wanted a number from 0.001 to 1e+07",
                  [&](const Environment& all) { all.read_seconds("X", seconds); });
  CHECK(number == 5);
  CHECK(seconds == 0.5);
}

TEST_CASE("a switch of the environment is 0 or 1, or an error", "[base][environment]") {
  const std::pair<const char*, bool> words[] = {
      {"1", true}, {"true", true}, {"0", false}, {"false", false}};
  for (const auto& [word, on] : words)
    CHECK(Environment(std::map<std::string, std::string>{{"X", word}}).flag("X", !on) == on);
  for (const bool otherwise : {true, false}) {
    CHECK(Environment(std::map<std::string, std::string>{}).flag("X", otherwise) == otherwise);
    CHECK(Environment(std::map<std::string, std::string>{{"X", ""}}).flag("X", otherwise) ==
          otherwise);
  }
  check_refused("no", "X='no': wanted 0 or 1", [](const Environment& all) { all.flag("X", true); });
}

TEST_CASE("a word of the environment is one of those allowed, or an error", "[base][environment]") {
  const auto choice = [](const Environment& all) { return all.choice("X", {"a", "bc", "d"}); };
  const auto of = [&](const char* value) {
    return choice(Environment(std::map<std::string, std::string>{{"X", value}}));
  };
  CHECK(of("a") == 0);
  CHECK(of("d") == 2);
  CHECK_FALSE(of(""));
  check_refused("A", "X='A': wanted a, bc or d", choice);
}

TEST_CASE("errors of variables show a long value's beginning, in one line", "[base][environment]") {
  const auto whole = [](const Environment& all) { return all.integer("X"); };
  check_refused("", "X='': wanted a whole number", whole);
  check_refused("a\nb", "X='a\\x0ab': wanted a whole number", whole);
  check_refused(std::string(20'000, 'y'), "X='" + std::string(80, 'y') + "'...: wanted", whole);
}
