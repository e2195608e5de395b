#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

/// scripts/limits_test.py has the whole grid.
TEST_CASE("programs under limits of resources end with a reason and leave nothing",
          "[examples][limits][multiproc]") {
  if (!has_program("mnist_cnn") || !has_program("distribute")) SKIP("the programs were not built");
  if (std::system("python3 --version > /dev/null 2>&1") != 0) SKIP("there is no python3");
  const TemporaryDirectory directory;
  const std::string log = directory / "log";
  const int status = std::system(("python3 " DISTRIBUTE_SOURCE_DIR "/scripts/limits_test.py " +
                                  shell_quoted(DISTRIBUTE_BINARY_DIR) + " --small > " + log)
                                     .c_str());
  std::ifstream file(log);
  INFO(std::string(std::istreambuf_iterator<char>(file), {}));
  CHECK(status == 0);
}
