#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_options.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;
using Catch::Matchers::Message;

namespace {

const AgreedOptions kOptions{{"batch_size", "64"}, {"seed", "1"}, {"steps", "100"}};

AgreedOptions with(const std::string& name, const std::string& value) {
  AgreedOptions options = kOptions;
  options[name] = value;
  return options;
}

void check(const AgreedOptions& mine) {
  check_same_options("tasks", {"worker 1", options_text(mine)},
                     {"the chief", options_text(kOptions)});
}

}  // namespace

TEST_CASE("options have one line each, by name", "[cluster][agreed_options]") {
  CHECK(options_text(kOptions) == "batch_size=64\nseed=1\nsteps=100\n");
  CHECK(options_text({}) == "");
}

TEST_CASE("equal options agree, and of others the first is named", "[cluster][agreed_options]") {
  CHECK_NOTHROW(check(kOptions));
  const std::string begin = "the tasks were started with different flags: worker 1 has ";
  const auto says = [&](const std::string& text) { return Message(begin + text); };
  CHECK_THROWS_MATCHES(check(with("seed", "2")), FailedPreconditionError,
                       says("seed=2, the chief seed=1"));
  CHECK_THROWS_MATCHES(check(with("batch_size", "6")), FailedPreconditionError,
                       says("batch_size=6, the chief batch_size=64"));
  CHECK_THROWS_MATCHES(check(with("steps", "1000")), FailedPreconditionError,
                       says("steps=1000, the chief steps=100"));
  CHECK_THROWS_MATCHES(check(with("width", "8")), FailedPreconditionError,
                       says("width=8, the chief nothing"));
  CHECK_THROWS_MATCHES(check({}), FailedPreconditionError,
                       says("nothing, the chief batch_size=64"));
}
