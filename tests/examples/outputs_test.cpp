#include <examples/common/outputs.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/comma_locale.hpp>
#include <tests/support/temporary_directory.hpp>

#include <fstream>
#include <iterator>

TEST_CASE("the losses have decimal points under a locale with a comma", "[examples][outputs]") {
  const TemporaryDirectory directory;
  const CommaLocale locale;
  examples::Outputs outputs({.loss_csv = directory / "loss.csv", .logdir = ""});
  outputs.open();
  outputs.loss(1, 1234.5, 0.25);
  outputs.close();
  std::ifstream file(directory / "loss.csv");
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) ==
        "step,loss,grad_norm\n0,1234.5,0.25\n");
}
