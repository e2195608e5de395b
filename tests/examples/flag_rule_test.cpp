#include <tools/flag_rule.hpp>

#include <tests/support/catch.hpp>

#include <cmath>

using namespace distribute_tools;
using Catch::Matchers::Contains;

TEST_CASE("a rule says what it takes in the help and in the error", "[examples][flag_rule]") {
  struct Case {
    FlagRule rule;
    const char* range;
    double good, bad;
    const char* problem;
  };
  for (const Case& c : {Case{at_least(1), "at least 1", 1, 0.5, "--x must be at least 1"},
                        Case{above(0), "greater than 0", 1e-9, 0, "--x must be greater than 0"},
                        Case{at_least(1).at_most(64), "at least 1 and at most 64", 64, 65,
                             "--x must be at least 1 and at most 64"},
                        Case{in_range(0, 1), "in [0, 1]", 1, 1.5, "--x must be in [0, 1]"},
                        Case{in_range(0, 1).open(), "in [0, 1)", 0, 1, "--x must be in [0, 1)"},
                        // Help leaves out a bound that is no more than a guard; the error has it.
                        Case{at_least(0).at_most(1e30), "at least 0", 1e29, 1e31,
                             "--x must be at least 0 and at most 1e+30"}}) {
    CAPTURE(c.range);
    CHECK(c.rule.range() == c.range);
    CHECK(problem_of("x", c.good, c.rule) == "");
    CHECK(problem_of("x", c.bad, c.rule) == c.problem);
    CHECK(problem_of("x", std::nan(""), c.rule) != "");
  }
  CHECK(problem_of("x", -1e300, any()) == "");
  CHECK(any().range() == "");
}

TEST_CASE("a rule of known words names the nearest", "[examples][flag_rule]") {
  const FlagRule rule = one_of("adam", "sgd", "rmsprop");
  CHECK(rule.range() == "adam, sgd or rmsprop");
  CHECK(problem_of("optimizer", std::string("sgd"), rule) == "");
  CHECK(problem_of("optimizer", std::string("adan"), rule) ==
        "--optimizer=adan is unknown; did you mean adam? it takes adam, sgd, rmsprop");
  CHECK(problem_of("optimizer", std::string("lion"), rule) ==
        "--optimizer=lion is unknown; it takes adam, sgd, rmsprop");
  CHECK(problem_of("anything", std::string("lion"), any()) == "");
  CHECK(problem_of("given", std::vector<std::string>{"lion"}, rule) == "");  // no rule for lists
}

TEST_CASE("help has what a flag takes and where it applies", "[examples][flag_rule]") {
  CHECK(any().help("which network") == "which network");
  CHECK(at_least(0).help("number") == "number");  // goes without saying
  CHECK(at_least(1).agreed().help("steps") == "steps [at least 1]");
  CHECK(one_of("a", "b").help("way") == "way [a|b]");
  CHECK(any().only_with("strategy", {"parameter_server"}).help("text") ==
        "with --strategy=parameter_server: text");
  CHECK(any().only_with("optimizer", {"momentum", "nesterov", "rmsprop"}).help("decay") ==
        "with --optimizer=momentum, nesterov or rmsprop: decay");
}

TEST_CASE("a flag that does nothing names where it applies", "[examples][flag_rule]") {
  const FlagRule rule = any().only_with("optimizer", {"adam", "adamw"});
  CHECK(misplaced("beta_1", rule, {{"optimizer", "adamw"}}) == "");
  CHECK(misplaced("beta_1", rule, {}) == "");  // not known yet
  CHECK(misplaced("beta_1", any(), {{"optimizer", "sgd"}}) == "");
  CHECK(misplaced("beta_1", rule, {{"optimizer", "sgd"}}) ==
        "--beta_1 does nothing with --optimizer=sgd; it is for --optimizer=adam or adamw");
  CHECK(misplaced("min_workers", any().only_with("elastic", {"true"}), {{"elastic", "false"}}) ==
        "--min_workers does nothing with --elastic=false; it is for --elastic");
  const FlagRule either = any().only_with("strategy", {"a", "b"}).only_with("api", {"c"});
  CHECK(either.help("text") == "with --strategy=a or b or --api=c: text");
  CHECK(misplaced("elastic", either, {{"strategy", "b"}, {"api", "d"}}) == "");
  CHECK(misplaced("elastic", either, {{"strategy", "d"}, {"api", "c"}}) == "");
  CHECK(misplaced("elastic", either, {{"api", "d"}}) == "");
  CHECK(misplaced("elastic", either, {{"strategy", "d"}, {"api", "d"}}) ==
        "--elastic does nothing with --strategy=d; it is for --strategy=a or b or --api=c");
}

TEST_CASE("the nearest name is near", "[examples][flag_rule]") {
  const std::vector<std::string> names = {"threads", "batch_size", "steps"};
  CHECK(nearest_of("treads", names) == "threads");
  CHECK(nearest_of("batchsize", names) == "batch_size");
  CHECK(nearest_of("step", names) == "steps");
  CHECK(nearest_of("epochs", names) == "");
  CHECK(nearest_of("batch", names) == "batch_size");  // the only one that begins so
  CHECK(nearest_of("max", {"max_steps", "max_restarts"}) == "");
  CHECK(nearest_of("x", {}) == "");
  CHECK(alternatives({}) == "");
  CHECK(alternatives({"a"}) == "a");
  CHECK(alternatives({"a", "b", "c"}) == "a, b or c");
}
