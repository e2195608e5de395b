/// Runs the demo's program as a user would, with good and bad input.

#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

using Catch::Matchers::Contains;

namespace {

ProgramResult mnist_mirrored(std::vector<std::string> arguments) {
  return run_program("mnist_mirrored", arguments, "OMP_NUM_THREADS=1");
}

void check_complaint(const std::string& argument, int status, const std::string& text) {
  const ProgramResult result = mnist_mirrored({argument});
  INFO(argument << "\n" << result.err);
  CHECK(result.status == status);
  CHECK_THAT(result.err, Contains(text));
  // A build with CUDA says in a line of its own that there is no driver.
  if (status == 2) CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("mnist_mirrored learns the digits on two devices", "[examples][mnist_mirrored]") {
  const ProgramResult result =
      mnist_mirrored({distribute::testing::source_dir() + "/examples/mnist_cnn/data", "--epochs=1",
                      "--replicas=2"});
  INFO(result.out << result.err);
  REQUIRE(result.status == 0);
  const std::string mark = "test accuracy ";
  const size_t at = result.out.find(mark);
  REQUIRE(at != std::string::npos);
  CHECK(std::atof(result.out.c_str() + at + mark.size()) > 0.9);
}

TEST_CASE("mnist_mirrored names what it cannot use", "[examples][mnist_mirrored]") {
  check_complaint("--epoch=1", 2, "--epoch=1 is not understood");
  check_complaint("--epochs=0", 2, "--epochs=0: wanted a number from 1 to 999");
  check_complaint("--replicas=many", 2, "--replicas=many: wanted a number");
  check_complaint("/nowhere", 1, "/nowhere");
  CHECK(mnist_mirrored({"/nowhere", "/elsewhere"}).status == 2);
}
