#include <distribute/base/error.hpp>
#include <distribute/train/run_report.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<Variable> variables(float last) {
  return {Variable(Tensor(1.0f), {.name = "fine"}),
          Variable(Tensor({2}, std::vector<float>{0, last}), {.name = "dense/kernel"})};
}

}  // namespace

TEST_CASE("a loss that is no number ends training with the variable that began it",
          "[train][finite_checks]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_NOTHROW(train::check_finite_loss("loss", 1.5, 3, variables(nan)));
  CHECK_THROWS_WITH(
      train::check_finite_loss("loss", nan, 3, variables(nan)),
      Contains("the loss became nan at step 3; the first variable with such values is "
               "'dense/kernel'"));
  CHECK_THROWS_WITH(train::check_finite_loss("test loss", kInfinity, 4, variables(2)),
                    Contains("the test loss became infinite at step 4; all variables are finite"));
}

TEST_CASE("weights that are no numbers are not worth saving", "[train][finite_checks]") {
  CHECK_NOTHROW(train::check_worth_saving(variables(2), 7));
  CHECK(train::first_not_finite(variables(2)) == "");
  CHECK(train::first_not_finite(variables(kInfinity)) == "dense/kernel");
  CHECK_THROWS_AS(train::check_worth_saving(variables(kInfinity), 7), FailedPreconditionError);
  CHECK_THROWS_WITH(train::check_worth_saving(variables(kInfinity), 7),
                    Contains("'dense/kernel' became nan or infinite at step 7; nothing was saved"));
}
